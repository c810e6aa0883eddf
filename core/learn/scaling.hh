// Multinomial logistic regression by iterative scaling, for non-negative values.
//
// Both move all weights at once to the maximum of a lower bound of the penalised likelihood that separates by weight.
// With the empirical count E_fk = Σ_i x_if [y_i = k] and the model's p_ik, the step δ of weight λ_fk solves
//   GIS   Σ_i p_ik x_if · exp(δ·M) + (λ + δ)/σ² = E_fk,    M the largest sum of a row's values
//   IIS   Σ_i p_ik x_if exp(δ·M_i) + (λ + δ)/σ² = E_fk,    M_i the sum of row i's values.
// No correction feature is needed (Curran and Clark 2003), and the Gaussian prior keeps every weight finite.
#pragma once

#include "learn/trainer.hh"

namespace hyperbaton {

struct ScalingOptions {
  double variance;  // σ²
  std::size_t max_passes;
  double tolerance;  // stop when the objective falls by less than this fraction
};

// History: "objective" of AL14 eq. 6 before each pass's step, and after the last.
Trainer gis_trainer(const ScalingOptions& options);
Trainer iis_trainer(const ScalingOptions& options);

}  // namespace hyperbaton
