// The search graph: every hypothesis that survived, and every other way to it.
#pragma once

#include "decode/search.hh"

namespace hyperbaton {

struct GraphRow {
  std::int64_t hypothesis;  // numbered from 0 in the order of stacks; other ways to one come behind it
  std::int64_t stack;       // source words covered
  std::int64_t back;        // the hypothesis before, -1 at the start
  std::int64_t recombined;  // the hypothesis that this way leads to, -1 if it is one itself
  std::int64_t option;      // of the step
  std::uint32_t from, to;   // the hypotheses that the step joins, by their places in the chart; kNone at the start
  double score;             // so far
  double transition;        // of the step
  double best;              // of the best complete translation through here, -infinity if there is none
};

std::vector<GraphRow> search_graph(const Search& search);

}  // namespace hyperbaton
