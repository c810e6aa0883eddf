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
  float append(LmPart& part, LmPart added) {
    if (added.left == kNothing) return 0;
    if (part.left == kNothing) {
      part = added;
      return 0;
    }
    float score;
    if (is_closed(part.left)) {
      const auto junction = join(part.right, added.left);
      score = junction.score;
      part.right = junction.state;
    } else {
      const auto joined = join_open(part, added.left);
      score = joined.score;
      part = joined.part;
    }
    if (is_closed(added.left)) part.right = added.right;
    return score;
  }
  // log p of the end of the sentence.
  float finish(LmPart part);

 private:
  static constexpr std::uint32_t kNothing = 0;  // left: no words so far; right: no context
  static constexpr std::uint32_t kClosed = 1;   // left: no words whose probability could change
  static constexpr std::uint32_t kBegin = 1;    // right: after <s>

  // A left context. Its number is twice its place in lefts_, plus 1 if it is closed: the following words do not depend on
  // anything before them. A part whose left context is not closed has no other words.
  struct Left {
    std::uint32_t first, last;  // words in words_, by the model's numbers
    float score, last_score;    // of these words without context, and of the last one
    std::uint32_t right;        // the state after them
  };
  static bool is_closed(std::uint32_t left) { return left & 1; }
  const Left& left(std::uint32_t number) const { return lefts_[number / 2]; }

  std::uint32_t number(const LmState& state);
  // By the model's number of the word.
  Scored score(std::uint32_t right, std::uint32_t word);
  std::uint32_t extend(std::uint32_t left, std::uint32_t word);
  // Words after a right state: the difference from their score without context, and the state after them.
  Scored join(std::uint32_t right, std::uint32_t left) {
    const auto [junction, found] = junctions_.find_or_add(right, left);
    if (!found) *junction = score_words(right, left);
    return *junction;
  }
  Scored score_words(std::uint32_t right, std::uint32_t left);
  struct Joined {
    float score;
    LmPart part;  // if the second left context is closed, its right state is that of its part instead
  };
  const Joined& join_open(LmPart part, std::uint32_t left) {
    const auto [joined, found] = joined_.find_or_add(part.left, left);
    if (!found) *joined = join_words(part, left);
    return *joined;
  }
  Joined join_words(LmPart part, std::uint32_t left);

  const WeightedLm& lm_;
  std::vector<LmState> states_;
  Interner state_numbers_;
  std::vector<Left> lefts_;
  std::vector<std::uint32_t> words_;
  ScoreMap scores_;                  // by right state and word
  ScoreMap junctions_;               // by right state and left context
  PairMap<std::uint32_t> extended_;  // by left context and word
  PairMap<Joined> joined_;           // by two left contexts, the first one not closed
  LmState after_;                    // while a word is scored
};

}  // namespace hyperbaton
