#include "learn/extragradient.hh"

#include <algorithm>
#include <cmath>
#include <functional>

#include "learn/passes.hh"

namespace hyperbaton {

namespace {

constexpr int kPowerSteps = 30;

// Project onto the simplex, in place.
void project_simplex(std::span<double> values, std::vector<double>& scratch) {
  scratch.assign(values.begin(), values.end());
  std::sort(scratch.begin(), scratch.end(), std::greater<>());
  double sum = -1, shift = 0;
  for (std::size_t m = 0; m < scratch.size(); ++m) {
    sum += scratch[m];
    if (scratch[m] * static_cast<double>(m + 1) > sum) shift = sum / static_cast<double>(m + 1);
  }
  for (double& value : values) value = std::max(value - shift, 0.0);
}

// ‖column k‖ for each class.
std::vector<double> column_norms(std::span<const double> matrix, std::size_t n_classes) {
  std::vector<double> norms(n_classes, 0.0);
  for (std::size_t j = 0; j < matrix.size(); ++j) norms[j % n_classes] += matrix[j] * matrix[j];
  for (double& norm : norms) norm = std::sqrt(norm);
  return norms;
}

// The largest singular value of the rows, by power iteration from a fixed start.
double spectral_norm(const Problem& problem) {
  std::vector<double> v(problem.rows.width(), 1.0), next(v.size());
  const RowLoss square = [](std::size_t, std::span<double> score, std::span<double>) { return score[0] * score[0]; };
  double norm = 0;
  for (int step = 0; step < kPowerSteps; ++step) {
    const double length = std::sqrt(dot(v, v, problem.n_threads));
    if (length == 0) return 0;
    for (double& one : v) one /= length;
    norm = std::sqrt(loss_and_gradient(problem.rows, {1, 0}, v.data(), square, next, problem.n_threads));
    v.swap(next);
  }
  return norm;
}

class Extragradient {
 public:
  Extragradient(const ExtragradientOptions& options, const Problem& problem)
      : options_(options),
        problem_(problem),
        n_(problem.n_classes),
        weights_(problem.rows.width() * n_, 0.0),
        beta_(problem.rows.size() * n_, 1 / static_cast<double>(n_)) {}

  Fit run() {
    choose_steps();
    Fit fit;
    std::vector<double> gradient(weights_.size()), middle, beta_middle(beta_.size());
    for (std::size_t pass = 0; pass < options_.max_passes; ++pass) {
      problem_.report(pass, options_.max_passes);
      Values here = ascend(weights_, beta_, beta_middle, gradient);
      const double gap = here.loss - lower_bound(here, gradient);
      fit.history["objective"].push_back(here.loss);
      fit.history["gap"].push_back(gap);
      if (gap <= options_.tolerance * std::max(here.loss, 1e-12)) break;
      middle = weights_;
      descend(gradient, middle);
      // The second half-step starts from the old point, with the gradients at the midpoint.
      ascend(middle, beta_middle, beta_, gradient);
      descend(gradient, weights_);
    }
    fit.weights = std::move(weights_);
    return fit;
  }

 private:
  struct Values {
    double loss, margins;  // Σ_i ρ_i, and Σ_ik β_ik Δ(y_i, k)
  };

  // Step sizes whose product stays below 1 / ‖X‖², balanced by the sizes of the two sets.
  void choose_steps() {
    const double norm = 1.02 * spectral_norm(problem_) + 1e-12;
    const double balance = options_.radius * std::sqrt(static_cast<double>(n_) / static_cast<double>(problem_.rows.size()));
    step_weights_ = 0.9 * balance / norm;
    step_beta_ = 0.9 / (balance * norm);
  }

  // At (weights, at): compute the gradient with respect to weights, and `moved` ← projection of moved-from + step ·
  // gradient with respect to β; the first half-step moves from `at`, the second from β.
  Values ascend(std::span<const double> weights, std::span<const double> at, std::span<double> moved,
                std::span<double> gradient) {
    std::vector<double> extra(gradient.size() + 1);
    const RowLoss loss = [&](std::size_t i, std::span<double> scores, std::span<double> margins) {
      thread_local std::vector<double> scratch;
      const std::size_t y = problem_.label(i), worst = most_violating(options_.delta, y, scores);
      const double rho = options_.delta(y, worst) + scores[worst] - scores[y];
      const auto target = moved.subspan(i * n_, n_);
      for (std::size_t k = 0; k < n_; ++k) {
        const double ascent = options_.delta(y, k) + scores[k], here = at[i * n_ + k];
        target[k] = beta_[i * n_ + k] + step_beta_ * ascent;
        margins[0] += here * options_.delta(y, k);
        scores[k] = here - (k == y ? 1 : 0);
      }
      project_simplex(target, scratch);
      return rho;
    };
    const double total = loss_and_gradient(problem_.rows, {n_, 1}, weights.data(), loss, extra, problem_.n_threads);
    std::copy(extra.begin(), extra.end() - 1, gradient.begin());
    return {total, extra.back()};
  }

  // min over ‖w_k‖ ≤ R of the bilinear form at the current z: Σ β Δ − R Σ_k ‖Σ_i z_ik x_i‖.
  double lower_bound(const Values& here, std::span<const double> gradient) const {
    double bound = here.margins;
    for (const double norm : column_norms(gradient, n_)) bound -= options_.radius * norm;
    return bound;
  }

  void descend(std::span<const double> gradient, std::vector<double>& weights) const {
    add_scaled(-step_weights_, gradient, weights, problem_.n_threads);
    std::vector<double> factors = column_norms(weights, n_);
    for (double& factor : factors) factor = factor > options_.radius ? options_.radius / factor : 1;
    for (std::size_t j = 0; j < weights.size(); ++j) weights[j] *= factors[j % n_];
  }

  const ExtragradientOptions& options_;
  const Problem& problem_;
  std::size_t n_;
  std::vector<double> weights_, beta_;
  double step_weights_ = 0, step_beta_ = 0;
};

}  // namespace

Trainer extragradient_trainer(const ExtragradientOptions& options) {
  return [options](const Problem& problem) { return Extragradient(options, problem).run(); };
}

}  // namespace hyperbaton
