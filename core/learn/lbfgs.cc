#include "learn/lbfgs.hh"

#include "learn/losses.hh"

namespace hyperbaton {

Trainer lbfgs_trainer(const LbfgsOptions& options) {
  return [options](const Problem& problem) {
    const RowLoss loss = logistic_loss(problem);
    const PassShape shape{problem.n_classes, 0};
    const Smooth function = [&](std::span<const double> w, std::span<double> gradient) {
      const double value = loss_and_gradient(problem.rows, shape, w.data(), loss, gradient, problem.n_threads);
      add_scaled(1 / options.variance, w, gradient, problem.n_threads);
      return value + dot(w, w, problem.n_threads) / (2 * options.variance);
    };
    std::vector<double> start(problem.rows.width() * problem.n_classes, 0.0);
    Minimum minimum = minimize(function, std::move(start), options.minimize, problem.n_threads, problem.progress);
    return Fit{std::move(minimum.x), {{"objective", std::move(minimum.objective)}}};
  };
}

}  // namespace hyperbaton
