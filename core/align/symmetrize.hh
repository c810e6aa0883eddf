// Symmetrisation: combine the links of two directions into one set (Och and Ney 2003; the heuristics of Moses' symal).
#pragma once

#include <string_view>

#include "align/links.hh"
#include "base/parallel.hh"

namespace hyperbaton {

// Which points of the union are kept. Starting from the intersection, `grow` adds neighbours of kept points that cover an
// uncovered word; final points are then added that cover a new word on either side, or on both sides.
struct Symmetrization {
  enum class Final { None, Either, Both };
  bool keep_union;     // keep everything; the other fields are ignored
  bool grow;           // horizontal and vertical neighbours
  bool grow_diagonal;  // diagonal neighbours too
  Final final_points;

  // Look up by Moses' name; throws Error with the list of known names.
  static Symmetrization named(std::string_view name);
};

// From directed models, `forward` has at most one target for each source word, and `backward` at most one source for each
// target word.
LinksBuffer symmetrize(LinksView forward, LinksView backward, Symmetrization method, unsigned n_threads,
                       const Progress& progress);

}  // namespace hyperbaton
