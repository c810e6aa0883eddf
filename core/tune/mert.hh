// Minimum error rate training on fixed n-best lists (Och 2003): from each starting point, climb along the axes and along
// random directions, each by an exact line search, until no direction helps.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/parallel.hh"
#include "tune/nbest.hh"
#include "tune/objective.hh"

namespace hyperbaton {

struct MertOptions {
  std::size_t n_directions;  // random directions tried in each pass, in addition to the axes
  std::size_t max_passes;
  double tolerance;  // smallest gain that counts
  std::uint64_t seed;
  unsigned n_threads;
};

struct Climbed {
  std::vector<double> weights;  // (n_starts, n_features)
  std::vector<double> scores;   // of the metric, one for each start
};

// `starts` is (n_starts, n_features). `axes` are the features whose weights may change, `scales` the size of a step of
// each of them in a random direction. `constant` is the contribution of the other features to the score of each
// candidate; it may be empty if they do not distinguish candidates of a sentence. The result of a start depends only on
// its number and the seed.
Climbed mert(const NBestView& nbest, const Objective& objective, std::span<const double> starts,
             std::span<const std::uint32_t> axes, std::span<const double> scales, std::span<const double> constant,
             const MertOptions& options, const Progress& progress);

}  // namespace hyperbaton
