// The two directions in which words of a pair of sentences generate each other.
#pragma once

namespace hyperbaton {

// Index of a direction in pairs of numbers.
enum Direction : unsigned { kToTarget = 0, kToSource = 1 };  // p(target | source), p(source | target)

}  // namespace hyperbaton
