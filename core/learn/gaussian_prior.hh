// Training with a Gaussian prior: minimise −Σ log p + ‖w‖² / (2σ²) by L-BFGS.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "learn/minimize.hh"
#include "learn/passes.hh"

namespace hyperbaton {

// `objective(w, gradient, progress)` returns −Σ log p and writes its gradient; `objective.curvature(progress)` estimates
// the diagonal of its Hessian. The tolerance is a fraction of the gradient at zero weights, wherever the search starts.
template <class Objective>
Minimum minimize_with_prior(const Objective& objective, std::vector<double> start, double variance,
                            const MinimizeOptions& options, const Progress& progress, Checkpoints checkpoints = {}) {
  std::size_t n_passes = checkpoints.start ? checkpoints.start->n_passes : 0;
  // Ctrl-C must not wait for the end of a pass.
  const Progress within = [&](std::size_t, std::size_t) { return !progress || progress(n_passes, options.max_passes); };
  const Smooth function = [&](std::span<const double> w, std::span<double> gradient) {
    const double value = objective(w, gradient, within);
    add_scaled(1 / variance, w, gradient, objective.n_threads());
    ++n_passes;
    return value + dot(w, w, objective.n_threads()) / (2 * variance);
  };
  std::vector<double> curvature = objective.curvature(within);
  for (double& one : curvature) one += 1 / variance;
  MinimizeOptions from_here = options;
  if (!checkpoints.start && std::ranges::any_of(start, [](double one) { return one != 0; })) {
    std::vector<double> gradient(start.size());
    function(std::vector<double>(start.size()), gradient);
    from_here.goal = options.tolerance * largest(gradient);
  }
  return minimize(function, std::move(start), std::move(curvature), from_here, objective.n_threads(), progress,
                  std::move(checkpoints));
}

}  // namespace hyperbaton
