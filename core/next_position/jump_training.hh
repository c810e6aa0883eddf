// Fast training of PAIR and SEQUENCE: AdaGrad, sentence by sentence, on its own or as a start for L-BFGS.
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
// g_f², sentence by sentence in random order. The prior's part of g_f is spread over the sentences in which f occurs.
// `objective` contains the value during each pass.
Minimum adagrad_jumps(const JumpObjective& objective, const AdagradOptions& options, const Progress& progress);

// Initial weights for L-BFGS, much nearer to the minimum than zeros: the sentences are split into parts, each part is
// trained by AdaGrad, and the weights w of the parts are averaged (after Agarwal et al. 2014), each weighted by √Σ g²,
// AdaGrad's confidence in it. The parts depend only on the data, so the result does not depend on the number of threads.
struct WarmStart {
  std::vector<double> weighted;  // Σ w √Σ g² over the parts
  std::vector<double> shares;    // Σ √Σ g²: the quotient is the start
};
WarmStart warm_start(const JumpObjective& objective, std::size_t n_passes, double variance, const Progress& progress);

}  // namespace hyperbaton
