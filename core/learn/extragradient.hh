// The norm-bounded max-margin problem as a saddle point, NI11 eq. 6 and Appendix A, by the extragradient method.
//
//   min_{‖w_k‖ ≤ R} max_z Σ_i Σ_k z_ik (Δ(y_i, k) + w_k·x_i)
//
// With z_i = β_i − e_{y_i} and β_i any distribution over classes, the max{0, ·} of the paper is the choice β_i =
// e_{y_i}.
#pragma once

#include "learn/losses.hh"
#include "learn/trainer.hh"

namespace hyperbaton {

struct ExtragradientOptions {
  ClassMatrix delta;
  double radius;  // R
  std::size_t max_passes;
  double tolerance;  // stop when the saddle gap is below this fraction of the loss
};

// History: "objective" Σ_i ρ_i at the iterate (eq. 8) and its saddle "gap": the loss minus the best value that any
// bounded w could reach against the current z.
Trainer extragradient_trainer(const ExtragradientOptions& options);

}  // namespace hyperbaton
