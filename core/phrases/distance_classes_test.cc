#include "phrases/distance_classes.hh"

#include <vector>

#include "base/errors.hh"
#include "base/size.hh"
#include "testing/testing.hh"

using namespace hyperbaton;

TEST("the class of a distance is the number of cuts not above it") {
  const std::vector<std::int32_t> cuts{-4, 0, 1, 5};
  const std::vector<std::int16_t> distances{-9, -4, -1, 0, 1, 4, 5, 99};
  const std::vector<std::uint8_t> expected{0, 1, 1, 2, 3, 3, 4, 4};
  std::vector<std::uint8_t> classes(distances.size());
  classify_distances(distances, cuts, classes);
  CHECK(classes == expected);
  for (std::size_t i = 0; i < distances.size(); ++i) CHECK(distance_class(distances[i], cuts) == expected[i]);
  const std::vector<std::int32_t> falling{1, 0};
  CHECK_THROWS(classify_distances(distances, falling, classes), "cut points must increase");
}

TEST("classes of jumps by arithmetic agree with the cut points") {
  for (int jump = -12; jump <= 12; ++jump) {
    CHECK(jump_class(3, 3 + jump) == distance_class(1 - jump, kJumpCuts));
    if (-5 <= jump && jump <= 5) CHECK(jump_of(jump_class(0, jump)) == jump);
  }
  CHECK(nine_class(7) == 0);
  CHECK(nine_class(-8) == kNineClasses - 1);
}

TEST("lengths of jumps are cut after 1 and after 5, alike in both directions") {
  const std::vector<std::size_t> expected{0, 1, 1, 1, 1, 2, 2};
  for (int length = 1; length <= 7; ++length) {
    CHECK(length_class(10, 10 + length) == expected[to_size(length) - 1]);
    CHECK(length_class(10, 10 - length) == expected[to_size(length) - 1]);
  }
}
