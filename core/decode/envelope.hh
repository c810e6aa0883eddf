// Translations of the search graph that are best somewhere along a line of weights (Macherey et al. 2008).
//
// Along w + x v every way through the graph has a score that is linear in x. The lines that are highest somewhere are
// found for all hypotheses in the order of the search: those of a hypothesis are the upper envelope of all lines of the
// hypotheses before it, each raised by its step. No n-best list is long enough to be sure to hold them.
#pragma once

#include "decode/nbest.hh"

namespace hyperbaton {

struct EnvelopeSettings {
  std::span<const double> directions;  // (n_directions, n_features), may be empty
  std::size_t n_features;              // of a step
  std::size_t max_steps;               // looked at: those with the best translations through them
};

// The translations on the envelope of each direction, none twice.
std::vector<Path> envelope_paths(const Search& search, Space& space, const EnvelopeSettings& settings);

}  // namespace hyperbaton
