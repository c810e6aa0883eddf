// Scores of phrase pairs: stored for each pair, as the numbers of distinct rows of scores, or relative frequencies beside
// stored lexical weights.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/numbers_view.hh"

namespace hyperbaton {

// Counts of phrase pairs, and of the phrases of both sides.
struct PhraseCountsView {
  NumbersView pairs, source, target;
};

// The numbers of a phrase pair and of its phrases.
struct PairNumbers {
  std::size_t pair, source, target;
};

class PairScores {
 public:
  // n scores for each pair.
  PairScores(std::span<const float> stored, std::size_t n) : stored_(stored), n_(n) {}
  // n scores for each distinct row; pair k has row numbers[k].
  PairScores(std::span<const float> rows, std::size_t n, const NumbersView& numbers)
      : stored_(rows), numbers_(numbers), n_(n), numbered_(true) {}
  // Moses' four: p(s|t), lex(s|t), p(t|s), lex(t|s). The lexical weights, two for each pair, are stored.
  PairScores(std::span<const float> lexical, const PhraseCountsView& counts)
      : stored_(lexical), counts_(counts), n_(4), counted_(true) {}

  std::size_t n() const { return n_; }
  // Write the scores of a pair.
  void copy(const PairNumbers& numbers, float* out) const {
    if (!counted_) {
      const auto row = numbered_ ? numbers_[numbers.pair] : numbers.pair;
      if ((row + 1) * n_ > stored_.size()) [[unlikely]]
        throw_damaged("a number is out of range");
      std::ranges::copy(stored_.subspan(row * n_, n_), out);
      return;
    }
    const auto joint = static_cast<double>(counts_.pairs[numbers.pair]);
    out[0] = static_cast<float>(joint / static_cast<double>(counts_.target[numbers.target]));
    out[1] = stored_[2 * numbers.pair];
    out[2] = static_cast<float>(joint / static_cast<double>(counts_.source[numbers.source]));
    out[3] = stored_[2 * numbers.pair + 1];
  }

 private:
  std::span<const float> stored_;
  NumbersView numbers_;
  PhraseCountsView counts_{};
  std::size_t n_;
  bool numbered_ = false, counted_ = false;
};

}  // namespace hyperbaton
