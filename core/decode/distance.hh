// The distance of a step in source words, which the distortion feature charges.
//
// The usual distance is that of the jump, |begin − previous end|: what a jump over a gap costs is known only when the
// search comes back to the gap. The early one (Moore and Quirk 2007, section 3.1) charges the way there and back as soon as
// a phrase is translated behind a gap, so that hypotheses of one stack are compared with what they owe:
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

// `first_gap` is that before the step; `previous` is empty at 0 for the first step.
inline int early_distance(SourceSpan previous, SourceSpan next, int first_gap) {
  if (next.begin == first_gap) return 0;
  const int from = next.end < previous.end ? next.begin : std::max(previous.end, first_gap);
  return 2 * (next.end - from);
}

// How the steps of a hypothesis are charged.
struct Distance {
  bool early;   // charge early_distance instead of jump_distance
  bool future;  // count the least distance still to go among the future costs (Green et al. 2010)

  int step(SourceSpan previous, SourceSpan next, const Coverage& before) const {
    return early ? early_distance(previous, next, before.next_gap(0)) : jump_distance(previous, next);
  }
  // The least distance still to go behind a phrase that ends at `end`: that of a way through all gaps, left to right. None
  // of its steps costs anything where distances are charged early.
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
