#include "phrases/orientation.hh"

#include <vector>

#include "testing/testing.hh"

using namespace hyperbaton;

TEST("steps are monotone, swaps, or jumps to either side") {
  const SourceSpan previous{3, 5};
  CHECK(step_orientation(previous, {5, 6}) == Orientation::Monotone);
  CHECK(step_orientation(previous, {1, 3}) == Orientation::Swap);
  CHECK(step_orientation(previous, {6, 7}) == Orientation::DiscontinuousRight);
  CHECK(step_orientation(previous, {0, 2}) == Orientation::DiscontinuousLeft);
  CHECK(first_step_orientation({0, 2}) == Orientation::Monotone);
  CHECK(first_step_orientation({1, 2}) == Orientation::DiscontinuousRight);
  // After a gap that the span can still fill, a jump is monotone relative to the next span.
  CHECK(hierarchical_step_orientation(previous, {6, 7}, {.left_covered = true, .right_covered = false}) ==
        Orientation::Monotone);
  CHECK(hierarchical_step_orientation(previous, {6, 7}, {.left_covered = true, .right_covered = true}) ==
        Orientation::DiscontinuousRight);
  CHECK(hierarchical_step_orientation(previous, {0, 2}, {.left_covered = false, .right_covered = true}) ==
        Orientation::Swap);
}

TEST("the grid sees the links diagonally beyond the corners of a phrase pair") {
  // Source words 0 1 2 are translated in the order 1 2 0.
  const std::vector<Link> links{{0, 2}, {1, 0}, {2, 1}};
  OrientationGrid grid;
  grid.reset(3, 3, links);
  const auto by_words = [&](SourceSpan source, TargetSpan target, Side side) {
    return static_cast<Orientation>(grid.packed(source, target) >> orientation_shift(Unit::Word, side) & 3);
  };
  CHECK(by_words({2, 3}, {1, 2}, Side::Before) == Orientation::Monotone);
  CHECK(by_words({0, 1}, {2, 3}, Side::Before) == Orientation::DiscontinuousLeft);
  // As one phrase, words 1 and 2 are swapped with word 0.
  CHECK(by_words({1, 3}, {0, 2}, Side::After) == Orientation::Swap);
}
