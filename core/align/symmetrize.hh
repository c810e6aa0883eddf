// Joining the links of two directions into one set (Och and Ney 2003; the heuristics of Moses' symal).
#pragma once

#include <string_view>

#include "align/links.hh"
#include "base/parallel.hh"

namespace hyperbaton {

// Which points of the union are kept. `grow` adds neighbours of kept points that cover a word not covered yet, starting
// from the intersection; then final points are added that cover a new word on either side, or on both at once.
struct Symmetrization {
  enum class Final { None, Either, Both };
  bool keep_union;     // everything; the other fields do not matter
  bool grow;           // horizontal and vertical neighbours
  bool grow_diagonal;  // diagonal neighbours too
  Final final_points;

  // By the name that Moses gives it; throws Error listing the known names.
  static Symmetrization named(std::string_view name);
};

// `forward` has at most one target for each source word and `backward` the reverse, if they come from directed models.
LinksBuffer symmetrize(LinksView forward, LinksView backward, Symmetrization method, unsigned n_threads,
                       const Progress& progress);

}  // namespace hyperbaton
