// Multinomial logistic regression by stochastic gradient descent on the primal, AL14 eq. 8.
//
// Row i's objective is −log p(y_i | x_i) + λ/2 ‖w‖² with λ = 1/(σ² N), so that the sum over rows is eq. 6. The step size
// is η_t = η₀ / (1 + λ η₀ t) (Bottou 2010); unless given, η₀ is chosen on a sample of the rows.
#pragma once

#include "learn/trainer.hh"

namespace hyperbaton {

struct SgdOptions {
  double variance;  // σ²
  double step;      // η₀; 0: chosen on a sample
  bool decreasing;  // otherwise η₀ throughout, which only gets close to the optimum
  std::size_t max_passes;
  double tolerance;  // stop when the objective of a pass changes by less than this fraction
};

// History: the "objective" of a pass is the sum of the losses at the time of the visits, plus the penalty at its end.
Trainer sgd_trainer(const SgdOptions& options);

}  // namespace hyperbaton
