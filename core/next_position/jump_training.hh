// Finding the weights of PAIR and SEQUENCE quickly: AdaGrad on one sentence after the other.
#pragma once

#include <vector>

#include "learn/minimize.hh"
#include "next_position/jump_objective.hh"

namespace hyperbaton {

struct AdagradOptions {
  double step;
  std::size_t max_passes;
  double variance;  // σ² of the Gaussian prior
  std::uint64_t seed;
};

// A quick approximation of the weights that minimise −Σ log P + ‖w‖² / (2σ²) (Duchi et al. 2011): w_f −= step · g_f / √Σ
// g_f², sentence by sentence in random order. The prior's part of g_f is spread over the sentences that f occurs in.
// `objective` has the value met during each pass.
Minimum adagrad_jumps(const JumpObjective& objective, const AdagradOptions& options, const Progress& progress);

}  // namespace hyperbaton
