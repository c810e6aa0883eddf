#include "learn/sgd.hh"

#include <cmath>

#include "learn/losses.hh"
#include "learn/passes.hh"
#include "learn/visits.hh"

namespace hyperbaton {

namespace {

constexpr std::size_t kSample = 1000;

// w = scale · v, so that shrinking all weights costs one multiplication.
class Sgd {
 public:
  Sgd(const Problem& problem, double lambda, double step, bool decreasing)
      : lambda_(lambda),
        step_(step),
        decay_(decreasing ? lambda * step : 0),
        weights_(problem.rows.width() * problem.n_classes, 0.0),
        scores_(problem.n_classes) {}

  // One pass; returns the sum of the losses.
  template <class Report>
  double walk(Visits& visits, const Report& report) {
    double total = 0;
    visits.walk(report, nullptr, 0, [&](std::size_t, const Row& row, std::size_t y) {
      score_row(row, weights_.data(), scores_);
      for (double& score : scores_) score *= scale_;
      const double own = scores_[y];
      total += softmax(scores_) - own;
      scores_[y] -= 1;
      const double eta = step_ / (1 + decay_ * static_cast<double>(n_visits_++));
      // η λ < 1 after the first visit of any sensible schedule; a larger first step would forget everything.
      scale_ *= std::max(1 - eta * lambda_, 1e-3);
      for (double& score : scores_) score *= -eta / scale_;
      add_row(row, scores_, weights_.data());
      if (scale_ < 1e-6) fold();
      return true;
    });
    fold();
    return total;
  }

  const std::vector<double>& weights() const { return weights_; }
  std::vector<double> take() { return std::move(weights_); }

 private:
  void fold() {
    for (double& w : weights_) w *= scale_;
    scale_ = 1;
  }

  double lambda_, step_, decay_;
  std::vector<double> weights_, scores_;
  double scale_ = 1;
  std::size_t n_visits_ = 0;
};

// The first step size whose neighbours do worse after one pass over a sample.
double find_step(const Problem& problem, double lambda, const std::vector<std::uint32_t>& sample) {
  const auto cost = [&](double step) {
    Sgd sgd(problem, lambda, step, true);
    Random random(problem.seed);
    Visits visits(problem, sample, random);
    sgd.walk(visits, [] {});
    std::vector<double> scores(problem.n_classes);
    double total = 0;
    for (const std::uint32_t i : sample) {
      score_row(problem.rows[i], sgd.weights().data(), scores);
      total += log_sum_exp(scores) - scores[problem.label(i)];
    }
    return total / static_cast<double>(sample.size()) + lambda / 2 * dot(sgd.weights(), sgd.weights(), 1);
  };
  double step = 1, best = cost(step);
  const double first_half = cost(0.5);
  const double factor = first_half < best ? 0.5 : 2;
  for (int trial = 0; trial < 20; ++trial) {
    const double now = factor == 0.5 && trial == 0 ? first_half : cost(step * factor);
    if (!(now < best)) break;
    step *= factor;
    best = now;
  }
  return step;
}

}  // namespace

Trainer sgd_trainer(const SgdOptions& options) {
  return [options](const Problem& problem) {
    const double lambda = 1 / (options.variance * static_cast<double>(problem.rows.size()));
    Random random(problem.seed);
    Visits visits(problem, random);
    const double step = options.step > 0 ? options.step : find_step(problem, lambda, visits.sample(kSample));
    Sgd sgd(problem, lambda, step, options.decreasing);
    Fit fit;
    auto& objective = fit.history["objective"];
    for (std::size_t pass = 0; pass < options.max_passes; ++pass) {
      const double loss = sgd.walk(visits, [&] { problem.report(pass, options.max_passes); });
      objective.push_back(loss + dot(sgd.weights(), sgd.weights(), problem.n_threads) / (2 * options.variance));
      if (pass > 0 && std::abs(objective[pass - 1] - objective[pass]) < options.tolerance * objective[pass]) break;
    }
    fit.weights = sgd.take();
    return fit;
  };
}

}  // namespace hyperbaton
