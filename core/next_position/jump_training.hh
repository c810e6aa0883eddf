// Fast training of PAIR and SEQUENCE by AdaGrad, sentence by sentence (Duchi et al. 2011):
//
//   w_f −= step · g_f / √Σ g_f²
//
// The step falls linearly to 0 over all passes, so that the last sentences do not dominate. The prior's part of g_f is
// spread over the sentences in which f occurs.
//
// The parts of a large text learn side by side in a pass, each from the same weights. After the pass their weights w are
// averaged (after Agarwal et al. 2014), each weighted by its confidence √Σ g² of the pass. Parts depend only on the data,
// so the result does not depend on the number of threads.
#pragma once

#include <span>
#include <vector>

#include "next_position/jump_objective.hh"

namespace hyperbaton {

struct AdagradPass {
  double step;      // at the beginning of the first pass
  double variance;  // σ² of the Gaussian prior
  std::size_t pass, n_passes;
};

// What AdaGrad knows between passes, in the caller's order of features.
struct AdagradState {
  std::span<const double> weights, squares;  // squares: Σ g²
  std::span<const double> n_sentences;       // of each feature: the number of sentences in which it occurs
};

// Sums over the parts: Σ c w where c = √Σ g² of the pass, Σ c, and Σ g² of the pass.
struct AdagradSums {
  double loss;  // during the pass
  std::size_t n_parts;
  std::vector<double> weighted, shares, squares;
};

// A step for any text. The scores of SEQUENCE add up many more weights, so each must move less.
double adagrad_step(const JumpObjective& objective);
// The number of sentences in which each feature occurs.
std::vector<double> count_sentences(const JumpObjective& objective, const Progress& progress);
// One pass; odd ones visit the sentences of a part in reverse: in the same order again, the last ones would dominate.
AdagradSums adagrad_pass(const JumpObjective& objective, const AdagradState& state, const AdagradPass& options,
                         const Progress& progress);

}  // namespace hyperbaton
