// Translations of the search graph that are best somewhere along a line of weights (Macherey et al. 2008).
//
// Along w + x v the score of every path through the graph is linear in x. The upper envelope of these lines is computed
// for all hypotheses in search order: the lines of a hypothesis are the upper envelope of the lines of its predecessors,
// each shifted by its step. No n-best list is long enough to be certain to contain all these translations.
#pragma once

#include "decode/nbest.hh"

namespace hyperbaton {

struct EnvelopeSettings {
  std::span<const double> directions;  // (n_directions, n_features), may be empty
  std::size_t n_features;              // of a step
  std::size_t max_steps;               // largest number of steps considered: those with the best translations through them
};

// The translations on the envelope of each direction, without duplicates.
std::vector<Path> envelope_paths(const Search& search, Space& space, const EnvelopeSettings& settings);

}  // namespace hyperbaton
