#include "learn/mmr.hh"

#include "learn/mmr_coordinate.hh"
#include "learn/passes.hh"

namespace hyperbaton {

namespace {

// Keeps u_c = Σ_{n: y_n = c} α_n x_n; then w_k = Σ_c κ_out(k, c) u_c.
class LinearInputs {
 public:
  LinearInputs(const ClassMatrix& kernel, const Problem& problem)
      : kernel_(kernel),
        problem_(problem),
        sums(problem.rows.width() * problem.n_classes, 0.0),
        scores_(problem.n_classes) {
    for (std::size_t a = 0; a < problem.n_classes; ++a)
      for (std::size_t b = 0; b < problem.n_classes; ++b) diagonal_ &= a == b || kernel(a, b) == 0;
  }

  double gradient(std::size_t i) {
    const std::size_t y = problem_.label(i);
    const Row row = problem_.rows[i];
    // Without relations between classes only the row's own class matters: the cost is that of a binary machine.
    if (diagonal_) return kernel_(y, y) * score_class(row, sums.data(), problem_.n_classes, y);
    score_row(row, sums.data(), scores_);
    double sum = 0;
    for (std::size_t k = 0; k < scores_.size(); ++k) sum += kernel_(y, k) * scores_[k];
    return sum;
  }
  double curvature(std::size_t i) const {
    const std::size_t y = problem_.label(i);
    return kernel_(y, y) * squared_norm(problem_.rows[i]);
  }
  void moved(std::size_t i, double change) {
    add_class(problem_.rows[i], change, problem_.n_classes, problem_.label(i), sums.data());
  }

 private:
  const ClassMatrix& kernel_;
  const Problem& problem_;
  bool diagonal_ = true;

 public:
  std::vector<double> sums;

 private:
  std::vector<double> scores_;
};

}  // namespace

Trainer mmr_trainer(const MmrOptions& options) {
  return [options](const Problem& problem) {
    const std::size_t n = problem.n_classes;
    LinearInputs inputs(options.output_kernel, problem);
    MmrDescent descent(options, problem, inputs);
    Fit fit;
    descent.run(fit);
    fit.weights.assign(inputs.sums.size(), 0.0);
    double norm = 0;
    for (std::size_t f = 0; f < problem.rows.width(); ++f)
      for (std::size_t k = 0; k < n; ++k) {
        double& weight = fit.weights[f * n + k];
        for (std::size_t c = 0; c < n; ++c) weight += options.output_kernel(k, c) * inputs.sums[f * n + c];
        norm += weight * inputs.sums[f * n + k];
      }
    std::vector<double> ignored(fit.weights.size());
    const double loss =
        loss_and_gradient(problem.rows, {n, 0}, fit.weights.data(), true_class_loss(problem), ignored, problem.n_threads);
    fit.history["gap"] = {norm / 2 + options.cost * loss + descent.dual};
    return fit;
  };
}

}  // namespace hyperbaton
