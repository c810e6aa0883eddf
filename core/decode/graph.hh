// The search graph: every surviving hypothesis and all alternative paths to it.
#pragma once

#include "decode/search.hh"

namespace hyperbaton {

struct GraphRow {
  std::int64_t hypothesis;  // numbered from 0 in stack order; followed by its alternative paths
  std::int64_t stack;       // source words covered
  std::int64_t back;        // the previous hypothesis, -1 at the start
  std::int64_t recombined;  // the hypothesis that this path was recombined into, -1 if it is a hypothesis
  std::int64_t option;      // of the step
  double score;             // so far
  double transition;        // of the step
  double best;              // of the best complete translation through here, -infinity if there is none
};

std::vector<GraphRow> search_graph(const Search& search);

}  // namespace hyperbaton
