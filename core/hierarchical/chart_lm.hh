// A language model over partial translations whose left context is not known yet.
//
// The probabilities of the first words of a part may change when words are placed before it. These words are its left
// context: it ends after the first word that no longer left context can affect, or after order − 1 words. A part is
// identified by two numbers: that of its left context, and that of its right state, on which the following words depend.
// Appending a word or a part is a look-up by such numbers, since the parts of one sentence share most of their contexts.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/interner.hh"
#include "decode/options.hh"
#include "decode/score_map.hh"

namespace hyperbaton {

// Equal exactly if the two parts have the same probability in every context.
struct LmPart {
  std::uint32_t left, right;
};

class ChartLm {
 public:
  explicit ChartLm(const WeightedLm& lm);

  float weight() const { return lm_.weight; }
  // A part without words, and one that begins the sentence.
  static constexpr LmPart nothing() { return {kNothing, kNothing}; }
  static constexpr LmPart begin() { return {kClosed, kBegin}; }

  // Append to a part: log p of the addition, natural log, unweighted. For an added part it is the difference from the
  // scores of its words without context.
  float append(LmPart& part, WordId word);
  float append(LmPart& part, LmPart added);
  // log p of the end of the sentence.
  float finish(LmPart part);

 private:
  static constexpr std::uint32_t kNothing = 0;  // left: no words so far; right: no context
  static constexpr std::uint32_t kClosed = 1;   // left: no words whose probability could change
  static constexpr std::uint32_t kBegin = 1;    // right: after <s>

  struct Left {
    std::uint32_t first, last;  // words in words_, by the model's numbers
    float score;                // of these words without context
    std::uint32_t right;        // the state after them
    bool closed;                // the following words do not depend on anything before them
  };

  std::uint32_t number(const LmState& state);
  // By the model's number of the word.
  Scored score(std::uint32_t right, std::uint32_t word);
  std::uint32_t extend(std::uint32_t left, std::uint32_t word);
  std::span<const std::uint32_t> words_of(const Left& left) const {
    return std::span(words_).subspan(left.first, left.last - left.first);
  }

  const WeightedLm& lm_;
  std::vector<LmState> states_;
  Interner state_numbers_;
  std::vector<Left> lefts_;
  std::vector<std::uint32_t> words_;
  ScoreMap scores_;     // by right state and word
  ScoreMap junctions_;  // by right state and left context
  U64Map extended_;     // by left context and word
  U64Map joined_;       // by two left contexts
  LmState after_;       // while a word is scored
};

}  // namespace hyperbaton
