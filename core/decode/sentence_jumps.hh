// Scores of jumps: a model's score for going from the last translated source word to the next one.
//
// Scores of a model over the remaining words are normalised here, over the uncovered words and the end:
//   log P(j | i, covered) = s(i, j) + g(c_j) − log Σ_{k not covered, or the end} exp(s(i, k) + g(c_k))
// where g is a weight for the class of a candidate (phrases/remaining.hh), if there are such weights. The normaliser
// depends on the row i and the coverage, and is computed once for all hypotheses that share both.
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "base/interner.hh"
#include "base/size.hh"
#include "base/u64_map.hh"
#include "decode/options.hh"
#include "phrases/remaining.hh"

namespace hyperbaton {

// A matrix of n + 1 rows and columns for a sentence of n words. Row 0 is the start of the sentence, row i + 1 means that
// word i was translated last; column j means that word j is next, column n is the end of the sentence.
struct JumpScorer {
  std::span<const float> matrices;        // of all sentences
  std::span<const std::int64_t> offsets;  // where they begin
  float weight;
  bool inside;                     // also charge jumps inside phrase pairs, not only between them
  bool remaining;                  // normalise over the uncovered words
  std::span<const float> classes;  // a weight for each class of candidates; empty: none

  std::size_t n_values() const { return 1; }
  // Throws if the matrices do not belong to these sentences.
  void check(std::span<const std::int64_t> source_offsets) const;
};

// The scores of one sentence.
class SentenceJumps {
 public:
  // `has_threshold`: `likelihood` will be called.
  SentenceJumps(const JumpScorer& scorer, std::size_t sentence, int n_words, bool has_threshold);

  static std::uint32_t row_of(std::int32_t word) { return static_cast<std::uint32_t>(word) + 1; }
  float jump(std::uint32_t row, std::int32_t to) const { return matrix_[at(row, to)]; }
  // The log-probability of a jump; `memo` has the bits of its normaliser, if it needs one.
  float logprob(const Coverage& before, std::uint32_t row, std::int32_t to, std::uint32_t memo) const {
    if (!scorer_.remaining) return jump(row, to);
    const float score =
        scorer_.classes.empty() ? jump(row, to) : jump(row, to) + scorer_.classes[remaining(before, row).class_of(to)];
    return std::max(score - std::bit_cast<float>(memo), kLogFloor);
  }
  // log Σ over the uncovered words; the second function caches its results.
  float make_normaliser(std::uint32_t row, const Coverage& before) const;
  float normaliser(std::uint32_t row, const Coverage& before) {
    if (n_words_ > kShort) return long_normaliser(row, before);
    const auto key = before.bits({0, n_words_}) | static_cast<std::uint64_t>(row) << kShort;
    const auto [place, found] = normalisers_.find_or_add(key);
    if (!found) *place = std::bit_cast<std::uint32_t>(make_normaliser(row, before));
    return std::bit_cast<float>(*place);
  }
  // Raise `best` to the probability of a jump to any word of a span, if it is higher.
  void likelihood(const Coverage& before, std::uint32_t row, SourceSpan next, float& best);

 private:
  std::size_t at(std::uint32_t row, std::int32_t to) const { return row * (to_size(n_words_) + 1) + to_size(to); }
  Remaining remaining(const Coverage& before, std::uint32_t row) const {
    return {before, n_words_, static_cast<int>(row) - 1};
  }
  float long_normaliser(std::uint32_t row, const Coverage& before);

  const JumpScorer& scorer_;
  int n_words_;
  const float* matrix_;
  std::vector<double> exps_;  // exponentials of the matrix relative to each row's largest value, for normalisers
  std::vector<float> tops_;   // the largest value of each row
  std::vector<double> class_exps_;
  // Normalisers by row and coverage, combined into one key if the sentence has at most kShort words.
  static constexpr int kShort = 48;
  U64Map normalisers_;  // bits of a float
  Interner long_keys_;
  std::vector<std::uint32_t> long_key_;
  std::vector<float> long_normalisers_;
};

}  // namespace hyperbaton
