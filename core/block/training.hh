// Training of the block model with a Gaussian prior by improved iterative scaling.
#pragma once

#include "block/objective.hh"
#include "learn/minimize.hh"
#include "learn/scaling.hh"

namespace hyperbaton {

// Improved iterative scaling: each pass adds to every weight the δ that solves
//   Σ p(t, j | s) φ(t, j, s) exp(δ φ#(t, j, s)) + (λ + δ) / σ² = Σ φ on the paths
// where φ# is the number of features of (t, j).
Minimum scale_blocks(const BlockObjective& objective, std::vector<double> start, const ScalingOptions& options,
                     const Progress& progress);

}  // namespace hyperbaton
