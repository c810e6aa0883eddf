// Orientation of a phrase pair relative to its neighbours. No other file decides orientations.
//
// There are two families. The distance to the previous phrase is divided into classes (distance_classes.hh). Moses'
// orientations look at the corners of the phrase pair's box in the alignment matrix: whether something lies diagonally
// beyond a corner, for one of three units: a word link (word), a phrase pair within the length limit (phrase), or a
// phrase pair of any length (hierarchical).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "align/links.hh"
#include "base/size.hh"

namespace hyperbaton {

// In the order of Moses' reordering tables: M S DL DR.
enum class Orientation : std::uint8_t { Monotone, Swap, DiscontinuousLeft, DiscontinuousRight };
enum class Unit : std::uint8_t { Word, Phrase, Hierarchical };
enum class Side : std::uint8_t { Before, After };  // relative to the previous or the next phrase on the target side

inline constexpr int kSides = 2;

// All orientations of a sample fit in 12 bits: two for each (unit, side), starting from this bit.
inline int orientation_shift(Unit unit, Side side) {
  return 2 * (kSides * static_cast<int>(unit) + static_cast<int>(side));
}

// Half-open spans of positions.
struct SourceSpan {
  int begin, end;
};
struct TargetSpan {
  int begin, end;
};

// The cells of a sentence pair's alignment matrix; filled once, then queried for each phrase pair.
//
// Rows are target words, columns source words. The row next to the box (above it for the previous phrase, below it for
// the next one) is examined at the cells left and right of the box's source span. A phrase pair shows its source span's
// last word to the left cell and its first word to the right one, in the row of its last target word. (Below the box one
// would expect the row of its first target word; Moses uses the last one there too, and its output is the reference.)
class OrientationGrid {
 public:
  // Start a sentence pair with these links.
  void reset(int n_source, int n_target, std::span<const Link> links);

  // Add a consistent phrase pair. Its source span may begin anywhere in [least_begin, source.begin] and end anywhere in
  // [source.end, greatest_end]. `limited`: it is within the length limit, and so are those ends.
  struct Widening {
    int least_begin, greatest_end;
  };
  void add_phrase(SourceSpan source, TargetSpan target, Widening widening, bool limited);

  // The six orientations of a phrase pair, packed.
  std::uint16_t packed(SourceSpan source, TargetSpan target) const;

 private:
  // The possible content of a cell: the first or last source word of a phrase pair, or a link.
  enum Thing { AnyFirst, AnyLast, LimitedFirst, LimitedLast, ALink, kThings };

  // The row next to a box, and the content of its cells left and right of the box, a bit for each thing.
  struct Extent {
    int least, greatest;
  };
  using Extents = std::array<Extent, kThings>;
  struct Neighbours {
    SourceSpan box;
    Side side;
    unsigned left, right;
    const Extents& extents;
  };
  Neighbours neighbours(SourceSpan source, TargetSpan target, Side side) const;
  static Orientation decide(const Neighbours& row, Unit unit);

  std::size_t cell(int row, int column) const { return to_size(row + 1) * to_size(n_source_ + 2) + to_size(column + 1); }
  void mark(int row, int column, Thing thing);

  int n_source_ = 0, n_target_ = 0;
  // The matrix is padded with an empty row and column on each side, so every queried cell exists.
  std::vector<std::uint8_t> cells_;  // bit `thing` of each cell
  std::vector<Extents> extents_;     // by row, the columns that contain a thing
};

// In translation the previous phrase is known, and the next phrase's source span determines its orientation; word-based
// and phrase-based orientation are then equal.
inline Orientation first_step_orientation(SourceSpan next) {
  return next.begin == 0 ? Orientation::Monotone : Orientation::DiscontinuousRight;
}
inline Orientation step_orientation(SourceSpan previous, SourceSpan next) {
  if (next.begin == previous.end) return Orientation::Monotone;
  if (next.end == previous.begin) return Orientation::Swap;
  return next.begin > previous.end ? Orientation::DiscontinuousRight : Orientation::DiscontinuousLeft;
}
// Hierarchical, relative to the next phrase: if the source words next to the previous phrase are still untranslated, the
// span that will contain them follows (Galley and Manning 2008, as approximated by Moses).
struct Beside {
  bool left_covered, right_covered;  // the words next to the previous phrase
};
inline Orientation hierarchical_step_orientation(SourceSpan previous, SourceSpan next, Beside beside) {
  if (next.begin == previous.end || (next.begin > previous.end && !beside.right_covered)) return Orientation::Monotone;
  if (next.end == previous.begin || (next.end < previous.begin && !beside.left_covered)) return Orientation::Swap;
  return next.begin > previous.end ? Orientation::DiscontinuousRight : Orientation::DiscontinuousLeft;
}
// Hierarchical, relative to the previous phrase: step_orientation of the span on top of the stack of translated spans.

}  // namespace hyperbaton
