// The distance of a step in source words, as charged by the distortion feature.
//
// The usual distance is that of the jump, |begin − previous end|: the cost of skipping a gap is known only when the
// search returns to the gap. The early distance (Moore and Quirk 2007, section 3.1) charges the way there and back as
// soon as a phrase is translated to the right of a gap, so that hypotheses of one stack are compared including this debt:
//
//     0                     the phrase begins at the first gap
//     2 · (end − begin)     it lies left of the previous phrase
//     2 · (end − farther of the previous end and the first gap)    it lies right of it
#pragma once

#include <algorithm>
#include <cstdlib>

#include "phrases/coverage.hh"
#include "phrases/orientation.hh"

namespace hyperbaton {

inline int jump_distance(SourceSpan previous, SourceSpan next) { return std::abs(next.begin - previous.end); }

// `first_gap` is the first gap before the step; `previous` is empty at 0 for the first step.
inline int early_distance(SourceSpan previous, SourceSpan next, int first_gap) {
  if (next.begin == first_gap) return 0;
  const int from = next.end < previous.end ? next.begin : std::max(previous.end, first_gap);
  return 2 * (next.end - from);
}

// How the steps of a hypothesis are charged.
struct Distance {
  bool early;   // charge early_distance instead of jump_distance
  bool future;  // add the least remaining distance to the future cost (Green et al. 2010)

  int step(SourceSpan previous, SourceSpan next, const Coverage& before) const {
    return early ? early_distance(previous, next, before.next_gap(0)) : jump_distance(previous, next);
  }
  // The least remaining distance after a phrase that ends at `end`: that of a path through all gaps, left to right. With
  // early distances, none of its steps costs anything.
  int ahead(const Coverage& after, int end, int n_words) const {
    if (early || !future) return 0;
    int distance = 0;
    for (int begin = after.next_gap(0); begin < n_words; begin = after.next_gap(end)) {
      distance += std::abs(begin - end);
      end = after.next_covered(begin);
    }
    return distance;
  }
};

}  // namespace hyperbaton
