// Jump models over the untranslated words: a chart does not know which these are, but a complete derivation does.
//
// A derivation visits source words in the order of their target words, each once. The words of a rule without links count
// as translated where its target side ends. So a derivation without gaps has the scores of the same phrases translated
// from left to right.
#pragma once

#include <compare>
#include <vector>

#include "decode/sentence_jumps.hh"

namespace hyperbaton {

// A source word of a derivation. Visits are ordered by target words.
struct WordVisit {
  std::size_t place;  // its first target word, or the end of the target side of its rule
  bool is_linked;
  std::uint16_t word;
  std::size_t rule;  // a number
  auto operator<=>(const WordVisit&) const = default;
};

class Rescoring {
 public:
  Rescoring(std::span<const JumpScorer> scorers, std::size_t sentence, int n_words);

  bool empty() const { return scorers_.empty(); }
  // The weighted score of a derivation, whose visits are sorted.
  double score(std::vector<WordVisit>& visits);
  // Add the unweighted values of the jumps to a source word, in the derivation last scored, to columns.
  void add_values(int word, float* columns) const {
    for (std::size_t k = 0; k < scorers_.size(); ++k) columns[k] += values_[to_size(word) * scorers_.size() + k];
  }

 private:
  std::span<const JumpScorer> scorers_;
  int n_words_;
  std::vector<SentenceJumps> jumps_;
  std::vector<float> values_;  // (n_words, n_scorers)
};

}  // namespace hyperbaton
