// Scores of phrase pairs: stored for each pair, as the numbers of distinct rows of scores, or relative frequencies beside
// lexical weights, which are stored or computed from the words and inner links.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/numbers_view.hh"
#include "phrases/lexical_weigher.hh"

namespace hyperbaton {

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
  PairScores(std::span<const float> lexical, const CountsView& counts)
      : stored_(lexical), counts_(counts), n_(4), counted_(true) {}
  // Moses' four, with computed lexical weights, but for the pairs in increasing `rows`, which have the stored ones.
  PairScores(std::span<const float> lexical, const CountsView& counts, const LexicalTable& words, const NumbersView& rows)
      : stored_(lexical), counts_(counts), words_(words), rows_(rows), n_(4), counted_(true) {}

  std::size_t n() const { return n_; }

 private:
  friend class PairScoreReader;

  std::span<const float> stored_;
  NumbersView numbers_;
  CountsView counts_{};
  std::optional<LexicalTable> words_;
  NumbersView rows_;
  std::size_t n_;
  bool numbered_ = false, counted_ = false;
};

// Reads the scores of the pairs of a table, in one thread.
class PairScoreReader {
 public:
  PairScoreReader(const PairScores& scores, const PairsView& table) : scores_(scores), table_(table) {
    if (scores.words_) weigher_.emplace(*scores.words_);
  }
  // Write the scores of a pair.
  void copy(const PairNumbers& numbers, float* out) {
    const auto n = scores_.n_;
    if (!scores_.counted_) {
      const auto row = scores_.numbered_ ? scores_.numbers_[numbers.pair] : numbers.pair;
      if ((row + 1) * n > scores_.stored_.size()) [[unlikely]]
        throw_damaged("a number is out of range");
      std::ranges::copy(scores_.stored_.subspan(row * n, n), out);
      return;
    }
    const auto& counts = scores_.counts_;
    const auto joint = static_cast<double>(counts.pairs[numbers.pair]);
    const auto lexical = weights(numbers);
    out[0] = static_cast<float>(joint / static_cast<double>(counts.target[numbers.target]));
    out[1] = lexical[0];
    out[2] = static_cast<float>(joint / static_cast<double>(counts.source[numbers.source]));
    out[3] = lexical[1];
  }

 private:
  std::array<float, 2> weights(const PairNumbers& numbers) {
    const auto& stored = scores_.stored_;
    if (!weigher_) return {stored[2 * numbers.pair], stored[2 * numbers.pair + 1]};
    const auto& rows = scores_.rows_;
    if (numbers.pair < unstored_.first || numbers.pair >= unstored_.last) {
      const auto row = rows.lower_bound({0, rows.size()}, numbers.pair);
      if (row < rows.size() && rows[row] == numbers.pair) return {stored[2 * row], stored[2 * row + 1]};
      unstored_ = {numbers.pair, row < rows.size() ? rows[row] : table_.targets.size()};
    }
    if (numbers.source != source_number_ || source_.empty()) {
      const auto words = table_.source.read(numbers.source, room_);
      source_.assign(words.begin(), words.end());
      source_number_ = numbers.source;
    }
    const auto [backward, forward] =
        (*weigher_)(source_, table_.target.read(numbers.target, room_), table_.links_of(numbers.pair));
    return {static_cast<float>(backward), static_cast<float>(forward)};
  }

  const PairScores& scores_;
  PairsView table_;
  std::optional<LexicalWeigher> weigher_;  // of computed weights
  IndexRange unstored_{0, 0};              // pairs whose weights are all computed
  std::size_t source_number_ = 0;
  std::vector<WordId> source_, room_;  // the words of the source phrase; those of other phrases
};

}  // namespace hyperbaton
