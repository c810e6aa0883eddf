#include <cmath>

#include "base/math.hh"
#include "learn/passes.hh"
#include "learn/random.hh"
#include "learn/svm.hh"

namespace hyperbaton {

namespace {

// One class against the rest.
class BinarySvm {
 public:
  BinarySvm(const SvmOptions& options, const Problem& problem, std::size_t target)
      : weights(problem.rows.width(), 0.0),
        options_(options),
        problem_(problem),
        target_(target),
        alpha_(problem.rows.size(), 0.0),
        active_(all_rows(problem.rows)) {}

  void run(Poll& poll) {
    Random random(combine(problem_.seed, target_));
    for (std::size_t pass = 0; pass < options_.max_passes; ++pass) {
      active_by_pass.push_back(static_cast<double>(active_.size()));
      shuffle_rows(problem_.rows, random, active_);
      const double spread = walk(poll);
      objective.push_back(dual_);
      if (spread > options_.tolerance) continue;
      if (active_.size() == problem_.rows.size()) break;
      // Solved for the active rows: bring the others back before accepting the solution.
      active_ = all_rows(problem_.rows);
      high_ = kInfinity, low_ = -kInfinity;
    }
  }

  std::vector<double> weights, objective, active_by_pass;

 private:
  double sign(std::size_t i) const { return problem_.label(i) == target_ ? 1 : -1; }

  // One pass; returns the spread of the projected gradients.
  double walk(Poll& poll) {
    double highest = -kInfinity, lowest = kInfinity;
    std::size_t n_kept = 0;
    for (std::size_t t = 0; t < active_.size(); ++t) {
      poll();
      prefetch_visits(problem_.rows, problem_.labels, std::span<const std::uint32_t>(active_), t, alpha_.data(), 1);
      const std::uint32_t i = active_[t];
      const Row row = problem_.rows[i];
      const double y = sign(i), gradient = y * score_class(row, weights.data(), 1, 0) - 1, old = alpha_[i];
      // At a bound, with a gradient that points outwards more than any of the previous pass: unlikely to move again.
      if ((old == 0 && gradient > high_) || (old == options_.cost && gradient < low_)) continue;
      active_[n_kept++] = i;
      const bool blocked = (old == 0 && gradient > 0) || (old == options_.cost && gradient < 0);
      const double projected = blocked ? 0 : gradient;
      highest = std::max(highest, projected), lowest = std::min(lowest, projected);
      if (std::abs(projected) < 1e-14) continue;
      const double curvature = squared_norm(row);
      if (curvature > 0)
        alpha_[i] = std::clamp(old - gradient / curvature, 0.0, options_.cost);
      else
        alpha_[i] = options_.cost;
      const double change = alpha_[i] - old;
      dual_ += change * (gradient + curvature * change / 2);
      add_class(row, y * change, 1, 0, weights.data());
    }
    active_.resize(n_kept);
    high_ = highest > 0 ? highest : kInfinity;
    low_ = lowest < 0 ? lowest : -kInfinity;
    return n_kept == 0 ? 0 : highest - lowest;
  }

  const SvmOptions& options_;
  const Problem& problem_;
  std::size_t target_;
  std::vector<double> alpha_;
  std::vector<std::uint32_t> active_;
  double high_ = kInfinity, low_ = -kInfinity, dual_ = 0;
};

// Add up the history of each class by pass; a class that stopped early keeps its last value or counts as zero.
void add_by_pass(std::vector<double>& sums, const std::vector<double>& values, bool stays) {
  const double before = sums.empty() ? 0 : sums.back();
  const std::size_t n_before = sums.size();
  if (values.size() > n_before) sums.resize(values.size(), stays ? before : 0);
  for (std::size_t pass = 0; pass < sums.size(); ++pass)
    sums[pass] += pass < values.size() ? values[pass] : stays ? values.back() : 0;
}

}  // namespace

Trainer one_vs_rest_trainer(const SvmOptions& options) {
  return [options](const Problem& problem) {
    const std::size_t n = problem.n_classes;
    Fit fit;
    fit.weights.resize(problem.rows.width() * n);
    std::vector<std::vector<double>> objectives(n), actives(n);
    problem.report(0, n);
    parallel_chunks(n, 1, problem.n_threads, problem.progress, [&](std::size_t k, std::size_t, Poll& poll) {
      BinarySvm svm(options, problem, k);
      svm.run(poll);
      for (std::size_t f = 0; f < svm.weights.size(); ++f) fit.weights[f * n + k] = svm.weights[f];
      objectives[k] = std::move(svm.objective), actives[k] = std::move(svm.active_by_pass);
    });
    auto &objective = fit.history["objective"], &active = fit.history["active"];
    for (std::size_t k = 0; k < n; ++k) {
      add_by_pass(objective, objectives[k], true);
      add_by_pass(active, actives[k], false);
    }
    std::vector<double> ignored(fit.weights.size());
    const double loss =
        loss_and_gradient(problem.rows, {n, 0}, fit.weights.data(), hinge_loss(problem), ignored, problem.n_threads);
    const double primal = dot(fit.weights, fit.weights, problem.n_threads) / 2 + options.cost * loss;
    fit.history["gap"] = {primal + objective.back()};
    return fit;
  };
}

}  // namespace hyperbaton
