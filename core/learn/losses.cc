#include "learn/losses.hh"

namespace hyperbaton {

RowLoss logistic_loss(const Problem& problem) {
  return [&problem](std::size_t i, std::span<double> scores, std::span<double>) {
    if (!problem.log_prior.empty())
      for (std::size_t k = 0; k < scores.size(); ++k) scores[k] += problem.log_prior[i * scores.size() + k];
    const std::size_t y = problem.label(i);
    const double own = scores[y], loss = softmax(scores) - own;
    scores[y] -= 1;
    return loss;
  };
}

RowLoss margin_loss(const Problem& problem, const ClassMatrix& delta) {
  return [&problem, delta](std::size_t i, std::span<double> scores, std::span<double>) {
    const std::size_t y = problem.label(i), worst = most_violating(delta, y, scores);
    const double loss = delta(y, worst) + scores[worst] - scores[y];
    std::fill(scores.begin(), scores.end(), 0.0);
    if (loss > 0) {
      scores[worst] += 1;
      scores[y] -= 1;
    }
    return std::max(loss, 0.0);
  };
}

RowLoss hinge_loss(const Problem& problem) {
  return [&problem](std::size_t i, std::span<double> scores, std::span<double>) {
    double loss = 0;
    for (std::size_t k = 0; k < scores.size(); ++k) {
      const double sign = k == problem.label(i) ? 1 : -1, lack = 1 - sign * scores[k];
      scores[k] = lack > 0 ? -sign : 0;
      loss += std::max(lack, 0.0);
    }
    return loss;
  };
}

RowLoss true_class_loss(const Problem& problem) {
  return [&problem](std::size_t i, std::span<double> scores, std::span<double>) {
    const std::size_t y = problem.label(i);
    const double lack = 1 - scores[y];
    std::fill(scores.begin(), scores.end(), 0.0);
    if (lack > 0) scores[y] = -1;
    return std::max(lack, 0.0);
  };
}

}  // namespace hyperbaton
