// Classes of the distance d = last source position before + 1 - next one (Ni 2011, eq. 1, with its sign): the cut points
// and the order of the classes. No other file defines either.
//
// Classes are ordered by d: the first contains the farthest forward moves, the last the farthest backward moves. A word
// distortion j - i - 1 is -d, a jump j - i is 1 - d.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "base/size.hh"

namespace hyperbaton {

// The class of a distance: the number of cut points less than or equal to it. Cut points increase strictly.
inline std::uint8_t distance_class(std::int32_t distance, std::span<const std::int32_t> cuts) {
  std::uint8_t n_passed = 0;
  while (n_passed < cuts.size() && cuts[n_passed] <= distance) ++n_passed;
  return n_passed;
}

// The classes of many distances; throws Error unless the cut points increase.
void classify_distances(std::span<const std::int16_t> distances, std::span<const std::int32_t> cuts,
                        std::span<std::uint8_t> classes);

// Nine classes of word distortions: [7, ∞), [4, 6], [2, 3], 1, 0, −2, [−4, −3], [−7, −5] and (−∞, −8] (GO13 footnote 6).
// The distortion −1 is the current word itself; between phrases it counts as −2.
inline constexpr std::array<std::int32_t, 8> kNineCuts{-6, -3, -1, 0, 1, 3, 5, 8};
inline constexpr std::size_t kNineClasses = kNineCuts.size() + 1;

inline std::size_t nine_class(int distortion) { return distance_class(-distortion, kNineCuts); }

// Eleven jumps 5 … −5; farther ones are clamped (XI11 section 3).
inline constexpr int kFarthestJump = 5;
inline constexpr std::size_t kJumps = 2 * kFarthestJump + 1;
inline constexpr auto kJumpCuts = [] {
  std::array<std::int32_t, kJumps - 1> cuts{};
  for (std::size_t k = 0; k < cuts.size(); ++k) cuts[k] = static_cast<std::int32_t>(k) + 2 - kFarthestJump;
  return cuts;
}();

// The class of the jump from one source word to another, by arithmetic, for the inner loop of the search.
inline constexpr std::size_t jump_class(int from, int to) {
  return to_size(kFarthestJump - std::clamp(to - from, -kFarthestJump, kFarthestJump));
}
// The jump of a class.
inline constexpr int jump_of(std::size_t jump_class) { return kFarthestJump - static_cast<int>(jump_class); }

// Three classes of the length of a jump, in either direction: 1, 2 to 5, and more (GO13 Table 1).
inline constexpr std::array<std::int32_t, 2> kLengthCuts{2, 6};
inline constexpr std::size_t kLengthClasses = kLengthCuts.size() + 1;

inline std::size_t length_class(int from, int to) { return distance_class(from > to ? from - to : to - from, kLengthCuts); }

}  // namespace hyperbaton
