// Scores of jumps: a model's score for going from the last translated source word to the next one.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "decode/feature.hh"
#include "decode/limits.hh"
#include "decode/sentence_jumps.hh"

namespace hyperbaton {

class JumpFeature : public FeatureDefaults {
 public:
  using Input = JumpScorer;
  JumpFeature(const JumpScorer& scorer, const Sentence& sentence, const Limits& limits);

  // The row of the last translated word.
  std::size_t n_state() const { return 1; }
  void estimate(std::uint32_t option, float& score) const {
    if (!estimates_.empty()) score += estimates_[option];
  }
  void likelihood(const Coverage& before, const std::uint32_t* state, SourceSpan next, float& best) {
    jumps_.likelihood(before, *state, next, best);
  }
  // The memo is the normaliser.
  void prepare(const Step& step, const std::uint32_t* state, std::uint32_t& memo, float&) {
    if (scorer_.remaining) memo = std::bit_cast<std::uint32_t>(jumps_.normaliser(*state, step.before));
  }
  void guess(const Step& step, const std::uint32_t* state, std::uint32_t memo, std::uint32_t option, float& score) const {
    const auto& visits = visits_[option];
    if (visits.first >= 0)
      score += scorer_.weight * jumps_.logprob(step.before, *state, visits.first, memo) + visits.weighted_inner;
  }
  void extend(const Step& step, const std::uint32_t* state, std::uint32_t, std::uint32_t option, std::uint32_t* after,
              float& score) {
    const auto last = visits_[option].last;
    *after = last < 0 ? *state : row_of(last);
    if (scorer_.remaining && scorer_.inside) score += scorer_.weight * inner_remaining(step.before, option);
  }
  // If everything is covered, only the end is left.
  void finish(const std::uint32_t* state, float& score) const {
    if (!scorer_.remaining) score += scorer_.weight * jumps_.jump(*state, n_words_);
  }
  void add_values(const Step& step, const GraphStep& way, std::uint32_t memo, float* column) const {
    const auto& visits = visits_[way.option];
    if (visits.first < 0) return;
    *column += visits.inner + jumps_.logprob(step.before, *way.state, visits.first, memo);
    if (scorer_.remaining && scorer_.inside) *column += inner_remaining(step.before, way.option);
  }
  void add_end_values(const std::uint32_t* state, float* column) const {
    if (!scorer_.remaining) *column += jumps_.jump(*state, n_words_);
  }

 private:
  // First and last source word that an option visits, -1 if nothing is linked, and the jumps between them if they do not
  // depend on the coverage.
  struct Visits {
    std::int32_t first, last;
    float inner, weighted_inner;
    std::uint32_t begin, end;  // of all of them in order_
  };
  static constexpr auto row_of = SentenceJumps::row_of;
  void find_visits(const Sentence& sentence, std::uint32_t option);
  // Weighted estimate of the jumps into and inside an option.
  float expected(const Sentence& sentence, std::uint32_t option, FutureJumps kind) const;
  // The jumps inside the option that is translated next.
  float inner_remaining(const Coverage& before, std::uint32_t option) const;

  const JumpScorer& scorer_;
  int n_words_;
  SentenceJumps jumps_;
  std::vector<Visits> visits_;       // by option
  std::vector<std::int32_t> order_;  // words that options visit
  std::vector<float> estimates_;     // by option
};

}  // namespace hyperbaton
