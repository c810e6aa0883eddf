#include "learn/ordinal.hh"

#include <cmath>

#include "base/math.hh"
#include "learn/passes.hh"

namespace hyperbaton {

namespace {

// ℓ(z) and its derivative.
double threshold_loss(OrdinalLoss loss, double z, double& slope) {
  if (loss == OrdinalLoss::margin) {
    const double lack = std::max(0.0, 1 - z);
    slope = -2 * lack;
    return lack * lack;
  }
  const double power = math::exp(-std::abs(z));
  slope = z > 0 ? -power / (1 + power) : -1 / (1 + power);
  return math::log1p(power) + std::max(-z, 0.0);
}

}  // namespace

double ordinal_objective(const Problem& problem, const OrdinalOptions& options, std::span<const double> parameters,
                         std::span<double> gradient) {
  const std::size_t n_thresholds = problem.n_classes - 1;
  const auto thresholds = parameters.last(n_thresholds);
  const RowLoss loss = [&](std::size_t i, std::span<double> score, std::span<double> by_threshold) {
    const double s = score[0];
    double total = 0, by_score = 0;
    for (std::size_t t = 0; t < n_thresholds; ++t) {
      // Class y is above the thresholds 0 … y − 1, numbered from 0.
      const double side = t < problem.label(i) ? 1 : -1;
      double slope;
      total += threshold_loss(options.loss, side * (s - thresholds[t]), slope);
      by_score += side * slope;
      by_threshold[t] -= side * slope;
    }
    score[0] = by_score;
    return total;
  };
  const double value =
      loss_and_gradient(problem.rows, {1, n_thresholds}, parameters.data(), loss, gradient, problem.n_threads);
  add_scaled(1 / options.variance, parameters, gradient, problem.n_threads);
  // The thresholds replace the constant, whose weight stays 0.
  gradient[problem.rows.n_features()] = 0;
  return value + dot(parameters, parameters, problem.n_threads) / (2 * options.variance);
}

Trainer ordinal_trainer(const OrdinalOptions& options) {
  return [options](const Problem& problem) {
    if (!problem.rows.options().constant) throw Error("ordered classes need the constant feature for their thresholds");
    const std::size_t n = problem.n_classes, width = problem.rows.width();
    const Smooth function = [&](std::span<const double> x, std::span<double> gradient) {
      return ordinal_objective(problem, options, x, gradient);
    };
    std::vector<double> curvature = squared_columns(problem.rows);
    curvature.resize(width + n - 1, static_cast<double>(problem.rows.size()));
    for (double& one : curvature) one += 1 / options.variance;
    Minimum minimum = minimize(function, std::vector<double>(width + n - 1, 0.0), std::move(curvature), options.minimize,
                               problem.n_threads, problem.progress);
    Fit fit;
    fit.weights.resize(width * n);
    for (std::size_t f = 0; f < width; ++f)
      for (std::size_t k = 0; k < n; ++k) fit.weights[f * n + k] = static_cast<double>(k) * minimum.x[f];
    std::vector<double> thresholds(minimum.x.end() - static_cast<std::ptrdiff_t>(n - 1), minimum.x.end());
    double sum = 0;
    for (std::size_t k = 0; k < n; ++k) {
      if (k > 0) sum += thresholds[k - 1];
      fit.weights[(width - 1) * n + k] = -sum;
    }
    fit.history["objective"] = std::move(minimum.objective);
    fit.history["thresholds"] = std::move(thresholds);
    return fit;
  };
}

}  // namespace hyperbaton
