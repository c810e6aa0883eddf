// What both directed models say about one sentence pair.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "align/hmm.hh"
#include "align/lexicon.hh"

namespace hyperbaton {

// Parameters of both directed models.
struct AlignmentModel {
  Lexicon lexicon;
  std::array<std::vector<float>, 2> null_emission;  // by Direction, then by generated word
  std::array<Jumps, 2> jumps;                       // kToTarget: states are source words
  float null_probability;

  // Empty and overlong sentences are left alone.
  bool fits(std::span<const WordId> source, std::span<const WordId> target) const {
    return !source.empty() && !target.empty() && source.size() <= static_cast<std::size_t>(jumps[kToTarget].max_states()) &&
           target.size() <= static_cast<std::size_t>(jumps[kToSource].max_states());
  }
};

// Its buffers are kept from one sentence pair to the next.
class PairPosteriors {
 public:
  // The sentences must fit the model; unknown words are kUnknownWord. With `chained` the hidden Markov models, else
  // model 1.
  void run(const AlignmentModel& model, std::span<const WordId> source, std::span<const WordId> target, bool chained);

  std::size_t n_source() const { return n_; }
  std::size_t n_target() const { return m_; }
  // p(target word j comes from source word i), p(source word i comes from target word j)
  float to_target(std::size_t i, std::size_t j) const { return sums_[kToTarget].posterior()[j * n_ + i]; }
  float to_source(std::size_t i, std::size_t j) const { return sums_[kToSource].posterior()[i * m_ + j]; }
  const ForwardBackward& sums(Direction direction) const { return sums_[direction]; }
  double logprob(Direction direction) const { return logprob_[direction]; }
  // Where the words are in the lexical table, at i * n_target() + j; null for a pair that it lacks.
  const std::vector<const Lexicon::Entry*>& entries() const { return entries_; }

 private:
  void look_up(const Lexicon& lexicon, std::span<const WordId> source, std::span<const WordId> target);

  std::size_t n_ = 0, m_ = 0;
  std::vector<std::uint32_t> hashes_;
  std::vector<const Lexicon::Entry*> entries_;
  std::array<std::vector<float>, 2> emissions_, nulls_;
  std::array<ForwardBackward, 2> sums_;
  std::array<double, 2> logprob_{};
};

}  // namespace hyperbaton
