// Multinomial logistic regression by stochastic gradient descent on the primal, AL14 eq. 8.
//
// Row i's objective is −log p(y_i | x_i) + λ/2 ‖w‖² with λ = 1/(σ² N), so that the sum over rows is eq. 6. The step
// size is η_t = η₀ / (1 + λ η₀ t) (Bottou 2010); η₀ is the best of a few on a sample of the rows unless it is given.
#pragma once

#include "learn/trainer.hh"

namespace hyperbaton {

struct SgdOptions {
  double variance;  // σ²
  double step;      // η₀; 0: found on a sample
  bool decreasing;  // else η₀ throughout, which gets near the optimum and no nearer
  std::size_t max_passes;
  double tolerance;  // stop when the objective of a pass changes by less than this part
};

// History: "objective" of a pass is the sum of the losses as rows were met, plus the penalty at its end.
Trainer sgd_trainer(const SgdOptions& options);

}  // namespace hyperbaton
