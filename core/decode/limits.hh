// Limits on the order in which a sentence is translated: the distortion limit, walls, zones and bracketings.
#pragma once

#include <cstdint>
#include <span>

#include "decode/distance.hh"
#include "phrases/coverage.hh"

namespace hyperbaton {

struct Zone {
  std::uint32_t sentence;
  std::uint16_t begin, end;
};
struct Wall {
  std::uint32_t sentence;
  std::uint16_t after;  // the word before it
};

// Contribution of the jump into each remaining phrase to the future cost: nothing, an upper bound over all hypotheses, or
// the score from the best preceding word, normalised over all words of the sentence.
enum class FutureJumps : std::uint8_t { None, Bound, Expected };

struct Limits {
  int distortion;    // -1: none
  bool constraints;  // enforce walls and zones
  Distance distance;
  FutureJumps future_jumps;
  float jump_threshold;  // a span is not tried if all jump models give it a lower probability
  bool itg;              // only orders of phrases that come from swaps in a binary bracketing
};

// The limits of one sentence.
class OrderLimits {
 public:
  // `walls` and `zones` contain those of all sentences, by sentence.
  OrderLimits(const Limits& limits, std::size_t sentence, std::span<const Wall> walls, std::span<const Zone> zones);

  // Whether a phrase may start there after a phrase that ended at `end`.
  bool reachable(int end, int begin) const { return distortion_ < 0 || std::abs(begin - end) <= distortion_; }
  // Whether a phrase at this span, which is uncovered and reachable, may follow.
  bool allowed(const Coverage& before, int first_gap, SourceSpan next) const;

 private:
  int distortion_;
  std::span<const Wall> walls_;
  std::span<const Zone> zones_;
};

}  // namespace hyperbaton
