#include <algorithm>
#include <cmath>

#include "base/math.hh"
#include "base/size.hh"
#include "learn/passes.hh"
#include "learn/random.hh"
#include "learn/svm.hh"

namespace hyperbaton {

namespace {

class CrammerSinger {
 public:
  CrammerSinger(const SvmOptions& options, const ClassMatrix& delta, const Problem& problem)
      : options_(options),
        delta_(delta),
        problem_(problem),
        n_(problem.n_classes),
        alpha_(problem.rows.size() * n_, 0.0),
        weights_(problem.rows.width() * n_, 0.0),
        gradient_(n_),
        next_(n_),
        change_(n_),
        active_(all_rows(problem.rows)) {}

  Fit run() {
    Random random(problem_.seed);
    Fit fit;
    // A row becomes inactive if its violation is below `shrink`, which decreases to the tolerance.
    double shrink = std::max(0.1, options_.tolerance);
    std::size_t pass = 0;
    Poll poll(problem_.still(pass, options_.max_passes));
    for (; pass < options_.max_passes; ++pass) {
      problem_.report(pass, options_.max_passes);
      fit.history["active"].push_back(static_cast<double>(active_.size()));
      const bool complete = active_.size() == problem_.rows.size();
      shuffle_rows(problem_.rows, random, active_);
      const double worst = walk(shrink, poll);
      fit.history["objective"].push_back(dual_);
      if (complete && worst <= options_.tolerance) break;
      if (active_.empty()) {
        shrink = std::max(shrink / 4, options_.tolerance);
        active_ = all_rows(problem_.rows);
      }
    }
    std::vector<double> ignored(weights_.size());
    const double loss = loss_and_gradient(problem_.rows, {n_, 0}, weights_.data(), margin_loss(problem_, delta_), ignored,
                                          problem_.n_threads);
    fit.history["gap"] = {dot(weights_, weights_, problem_.n_threads) / 2 + options_.cost * loss + dual_};
    fit.weights = std::move(weights_);
    return fit;
  }

 private:
  double bound(std::size_t k, std::size_t truth) const { return k == truth ? options_.cost : 0; }

  // One pass; returns the largest violation found.
  double walk(double shrink, Poll& poll) {
    double worst = 0;
    std::size_t n_kept = 0;
    for (std::size_t t = 0; t < active_.size(); ++t) {
      poll();
      prefetch_visits(problem_.rows, problem_.labels, std::span<const std::uint32_t>(active_), t, alpha_.data(), n_);
      const std::uint32_t i = active_[t];
      const std::size_t y = problem_.label(i);
      const Row row = problem_.rows[i];
      const auto alpha = std::span(alpha_).subspan(i * n_, n_);
      score_row(row, weights_.data(), gradient_);
      // The violation of the optimality conditions: variables below their bound must have the largest gradient.
      double top = -kInfinity, low = kInfinity;
      for (std::size_t k = 0; k < n_; ++k) {
        gradient_[k] += delta_(y, k);
        top = std::max(top, gradient_[k]);
        if (alpha[k] < bound(k, y)) low = std::min(low, gradient_[k]);
      }
      const double violation = top - low;
      worst = std::max(worst, violation);
      if (violation > 1e-14) update(row, y, alpha);
      if (violation > shrink) active_[n_kept++] = i;
    }
    active_.resize(n_kept);
    return worst;
  }

  // min ½ a ‖α − α_old‖² + g·(α − α_old) over Σα = 0, α ≤ bound: α_k = min(bound_k, α_old_k − g_k/a − ν).
  void update(const Row& row, std::size_t y, std::span<double> alpha) {
    const double curvature = squared_norm(row);
    if (curvature == 0) {
      // Without features only the linear term counts: all mass goes to the class with the largest margin.
      const auto far = std::max_element(gradient_.begin(), gradient_.end()) - gradient_.begin();
      for (std::size_t k = 0; k < n_; ++k) next_[k] = 0;
      next_[y] += options_.cost;
      next_[to_size(far)] -= options_.cost;
    } else {
      for (std::size_t k = 0; k < n_; ++k) next_[k] = alpha[k] - gradient_[k] / curvature;
      const double shift = find_shift(y);
      for (std::size_t k = 0; k < n_; ++k) next_[k] = std::min(bound(k, y), next_[k] - shift);
    }
    bool moved = false;
    for (std::size_t k = 0; k < n_; ++k) {
      change_[k] = next_[k] - alpha[k];
      dual_ += change_[k] * (gradient_[k] + curvature * change_[k] / 2);
      alpha[k] = next_[k];
      moved |= change_[k] != 0;
    }
    if (moved) add_row(row, change_, weights_.data());
  }

  // The ν with Σ_k min(bound_k, next_k − ν) = 0. With the points p_k = next_k − bound_k that is C + Σ_k min(0, p_k − ν)
  // = 0: the classes with the smallest points move freely, the others stay at their bounds.
  double find_shift(std::size_t y) {
    points_.resize(n_);
    for (std::size_t k = 0; k < n_; ++k) points_[k] = next_[k] - bound(k, y);
    std::sort(points_.begin(), points_.end());
    double sum = options_.cost, shift = 0;
    for (std::size_t m = 0; m < n_; ++m) {
      sum += points_[m];
      shift = sum / static_cast<double>(m + 1);
      if (m + 1 == n_ || shift <= points_[m + 1]) break;
    }
    return shift;
  }

  const SvmOptions& options_;
  const ClassMatrix& delta_;
  const Problem& problem_;
  std::size_t n_;
  std::vector<double> alpha_, weights_, gradient_, next_, change_, points_;
  std::vector<std::uint32_t> active_;
  double dual_ = 0;
};

}  // namespace

Trainer crammer_singer_trainer(const SvmOptions& options, const ClassMatrix& delta) {
  return [options, delta](const Problem& problem) { return CrammerSinger(options, delta, problem).run(); };
}

}  // namespace hyperbaton
