// Ordered classes: one score s = w·x and thresholds θ_1 ≤ … ≤ θ_{K−1}, with a loss for every threshold on the wrong
// side (all-threshold, Rennie and Srebro 2005):
//
//   min 1/(2σ²) (‖w‖² + ‖θ‖²) + Σ_i Σ_t ℓ(z_it),   z_it = s_i − θ_t for t ≤ y_i, else θ_t − s_i
//
// with ℓ(z) = log(1 + exp(−z)) or max(0, 1 − z)². The class is the number of thresholds below s. As scores of classes,
// w_k = k·w with the constant −Σ_{t ≤ k} θ_t say the same: s_k − s_{k−1} = s − θ_k.
#pragma once

#include "learn/minimize.hh"
#include "learn/trainer.hh"

namespace hyperbaton {

enum class OrdinalLoss { logistic, margin };

struct OrdinalOptions {
  OrdinalLoss loss;
  double variance;  // σ²
  MinimizeOptions minimize;
};

// Rows must have the constant, whose weights store the thresholds. The history also contains "thresholds".
Trainer ordinal_trainer(const OrdinalOptions& options);

// The objective and its gradient at parameters (w, θ), where w has an unused entry for the constant.
double ordinal_objective(const Problem& problem, const OrdinalOptions& options, std::span<const double> parameters,
                         std::span<double> gradient);

}  // namespace hyperbaton
