#include "learn/lbfgs.hh"

#include "learn/losses.hh"

namespace hyperbaton {

namespace {

// The Hessian's diagonal if every row had the classes' overall probabilities, times the number of features of a row: they
// move together, so without this factor the first step would be that much too long.
std::vector<double> guess_curvature(const Problem& problem, double variance) {
  const std::size_t n = problem.n_classes;
  std::vector<double> shares(n, 1.0), curvature(problem.rows.width() * n);
  for (std::size_t i = 0; i < problem.rows.size(); ++i) ++shares[problem.label(i)];
  for (double& share : shares) share /= static_cast<double>(problem.rows.size() + n);
  const double together = 1 + static_cast<double>(problem.rows.n_entries()) / static_cast<double>(problem.rows.size());
  const std::vector<double> squares = squared_columns(problem.rows);
  for (std::size_t j = 0; j < curvature.size(); ++j)
    curvature[j] = together * squares[j / n] * shares[j % n] * (1 - shares[j % n]) + 1 / variance;
  return curvature;
}

}  // namespace

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
    Minimum minimum = minimize(function, std::move(start), guess_curvature(problem, options.variance), options.minimize,
                               problem.n_threads, problem.progress);
    return Fit{std::move(minimum.x), {{"objective", std::move(minimum.objective)}}};
  };
}

}  // namespace hyperbaton
