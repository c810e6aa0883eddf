// Features of a jump from a current position (CP) i to a next position (NP) j: GO13 Table 1.
//
// Positions are those of positions.hh: i in 0 … n, j in 1 … n + 1, j ≠ i. o says whether the jump goes back (i > j), d is
// the class of its length (phrases/distance_classes.hh). All features carry o. There are three kinds:
//   constants   ⟨o⟩ and ⟨o, d⟩: the numbers 0 … kJumpConstants - 1, always in the space
//   unary       ⟨o, a part of i⟩ or ⟨o, a part of j⟩: shared by all jumps from i, or to j, with the same o
//   binary      ⟨o, a part of i, a part of j⟩
// Unary and binary features have keys; the number of a feature is kJumpConstants + the rank of its key.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "align/links.hh"
#include "features/key_counting.hh"
#include "features/positions.hh"
#include "phrases/distance_classes.hh"

namespace hyperbaton {

inline constexpr std::size_t kJumpConstants = 2 + 2 * kLengthClasses;

inline std::size_t goes_back(int i, int j) { return i > j ? 1 : 0; }
// The number of the constant ⟨o, d⟩; ⟨o⟩ has the number o.
inline std::size_t length_constant(std::size_t o, std::size_t d) { return 2 + o * kLengthClasses + d; }

// The visit order of each sentence pair as jumps: next[i] is the NP of CP i, 0 if i is not visited.
struct VisitsView {
  std::span<const std::uint16_t> positions;
  std::span<const std::int64_t> offsets;
  bool has_jumps(std::size_t s) const { return offsets[s + 1] > offsets[s]; }
  void next_positions(std::size_t s, int n_words, std::vector<int>& next) const;
};

// Throws Error unless tags and visits match the text.
void check_jumps(const TaggedText& text, const VisitsView& visits);

// The sorted keys of the features of jumps that occur often enough. All features count for jumps that are made; for other
// jumps only the pairs of words and of tags at the two positions count, the latter also with one of the words (footnote
// 12).
std::vector<std::uint64_t> count_jump_features(const TaggedText& text, const VisitsView& visits, const Counting& options,
                                               const Progress& progress);

// The features of sentences, list by list. Each sentence has, in this order: the unary features of CP i = 0 … n, for o = 0
// and 1; those of NP j = 1 … n + 1, for o = 0 and 1; the binary features of (i, j), i = 0 … n, j = 1 … n + 1 (none for i =
// j).
struct JumpLists {
  std::vector<std::uint8_t> counts;  // features of each list
  std::vector<std::uint32_t> ids;    // features of all lists
};
inline std::size_t n_lists(std::size_t n_words) { return 4 * (n_words + 1) + (n_words + 1) * (n_words + 1); }

// Finds the features of sentences in a feature space.
class JumpFeatures {
 public:
  JumpFeatures(std::span<const std::uint64_t> keys, bool tagged) : index_(keys), tagged_(tagged) {}
  // Append the lists of a sentence.
  void append(const TaggedText& text, std::size_t sentence, PositionParts& scratch, JumpLists& lists) const;

 private:
  KeyIndex index_;
  bool tagged_;
};

}  // namespace hyperbaton
