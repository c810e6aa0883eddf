#include "learn/dual_eg.hh"

#include <cmath>

#include "learn/losses.hh"
#include "learn/passes.hh"
#include "learn/random.hh"

namespace hyperbaton {

namespace {

constexpr double kFirstStep = 0.5;
// A class of vanishing probability changes D by less than its rounding error; such a step must not count as a rise, or
// the row would stay active for ever.
constexpr double kRounding = 1e-14;

class DualEg {
 public:
  DualEg(const DualEgOptions& options, const Problem& problem)
      : options_(options),
        problem_(problem),
        n_(problem.n_classes),
        log_alpha_(problem.rows.size() * n_),
        weights_(problem.rows.width() * n_, 0.0),
        active_(all_rows(problem.rows)) {
    scores_.resize(n_), gradient_.resize(n_), alpha_.resize(n_), next_.resize(n_), log_next_.resize(n_);
    change_.resize(n_);
  }

  Fit run() {
    start();
    Random random(problem_.seed);
    Fit fit;
    auto& history = fit.history;
    double n_rechecks = 0;
    for (std::size_t pass = 0; pass < options_.max_passes && !active_.empty(); ++pass) {
      history["active"].push_back(static_cast<double>(active_.size()));
      shuffle_rows(problem_.rows, random, active_);
      double gap = walk(pass);
      if (active_.empty() && options_.recheck) {
        gap = recheck();
        ++n_rechecks;
      }
      history["objective"].push_back(dual_);
      history["gap"].push_back(gap);
      history["rechecks"].push_back(n_rechecks);
    }
    for (double& value : log_alpha_) value = std::exp(value);
    history["alpha"] = std::move(log_alpha_);
    fit.weights = std::move(weights_);
    return fit;
  }

 private:
  std::span<double> log_alpha(std::size_t i) { return std::span(log_alpha_).subspan(i * n_, n_); }

  // α by eq. 15, w by eq. 10, D by eq. 9.
  void start() {
    const double wrong = options_.initial / static_cast<double>(n_ - 1), right = 1 - options_.initial;
    for (std::size_t i = 0; i < problem_.rows.size(); ++i) {
      const auto log_a = log_alpha(i);
      const std::size_t y = problem_.label(i);
      for (std::size_t k = 0; k < n_; ++k) {
        log_a[k] = std::log(k == y ? right : wrong);
        change_[k] = options_.variance * (k == y ? 1 - right : -wrong);
      }
      add_row(problem_.rows[i], change_, weights_.data());
    }
    const double entropy = right * std::log(right) + options_.initial * std::log(wrong);
    dual_ = dot(weights_, weights_, problem_.n_threads) / (2 * options_.variance) +
            static_cast<double>(problem_.rows.size()) * entropy;
  }

  // One pass over the active set, which shrinks; returns a bound of the gap of the rows as they were met.
  double walk(std::size_t pass) {
    double gap = 0;
    std::size_t n_kept = 0;
    for (std::size_t t = 0; t < active_.size(); ++t) {
      if (t % kReportRows == 0) problem_.report(pass, options_.max_passes);
      prefetch_visits(problem_.rows, problem_.labels, std::span<const std::uint32_t>(active_), t, log_alpha_.data(), n_);
      const std::uint32_t i = active_[t];
      const Row row = problem_.rows[i];
      score_row(row, weights_.data(), scores_);
      // Relative to the true class, as in eq. 12: large common parts would drown small differences of D.
      const double own = scores_[problem_.label(i)];
      for (double& score : scores_) score -= own;
      const auto log_a = log_alpha(i);
      const double violated = violation(log_a);
      // KL(α ‖ p) ≤ v²/8 when log α − log p spreads over v.
      const double share = violated * violated / 8;
      if (violated <= options_.epsilon) {
        removed_gap_ += share;
        continue;
      }
      gap += share;
      active_[n_kept++] = i;
      for (std::size_t k = 0; k < n_; ++k) alpha_[k] = std::exp(log_a[k]);
      update(row, log_a);
    }
    active_.resize(n_kept);
    return gap + removed_gap_;
  }

  // ∇ of eq. 12 less what is the same for all classes; returns max − min.
  double violation(std::span<const double> log_a) {
    for (std::size_t k = 0; k < n_; ++k) gradient_[k] = log_a[k] - scores_[k];
    const auto [low, high] = std::minmax_element(gradient_.begin(), gradient_.end());
    return *high - *low;
  }

  void update(const Row& row, std::span<double> log_a) {
    const double curvature = options_.variance * squared_norm(row);
    std::fill(change_.begin(), change_.end(), 0.0);
    bool moved = false;
    for (std::size_t step = 0; step < options_.n_steps; ++step) {
      if (step > 0 && violation(log_a) <= options_.epsilon) break;
      if (!try_step(log_a, curvature)) break;
      moved = true;
      for (std::size_t k = 0; k < n_; ++k) {
        // The row's own scores after eq. 14, without touching the features.
        const double difference = next_[k] - alpha_[k];
        scores_[k] -= curvature * difference;
        change_[k] -= options_.variance * difference;
        alpha_[k] = next_[k];
        log_a[k] = log_next_[k];
      }
    }
    if (moved) add_row(row, change_, weights_.data());
  }

  // Lines 10 to 18 of Algorithm 1.
  bool try_step(std::span<const double> log_a, double curvature) {
    double eta = kFirstStep;
    for (std::size_t trial = 0; trial < options_.max_trials; ++trial, eta *= 0.5) {
      for (std::size_t k = 0; k < n_; ++k) next_[k] = log_next_[k] = log_a[k] - eta * gradient_[k];
      const double log_total = softmax(next_);
      // D(α′) − D(α) by eq. 13.
      double difference = 0;
      for (std::size_t k = 0; k < n_; ++k) {
        log_next_[k] -= log_total;
        const double change = next_[k] - alpha_[k];
        difference +=
            next_[k] * log_next_[k] - alpha_[k] * log_a[k] - change * scores_[k] + curvature / 2 * change * change;
      }
      if (difference <= kRounding) {
        dual_ += difference;
        return true;
      }
    }
    return false;
  }

  // Look at every row; those that violate become active. Returns the exact gap.
  double recheck() {
    std::vector<char> violates(problem_.rows.size(), 0);
    const double gap = sum_over_rows(problem_.rows.size(), problem_.n_threads, [&](std::size_t i) {
      thread_local std::vector<double> scores;
      scores.resize(n_);
      score_row(problem_.rows[i], weights_.data(), scores);
      const auto log_a = std::span<const double>(log_alpha_).subspan(i * n_, n_);
      double sum = log_sum_exp(scores), low = log_a[0] - scores[0], high = low;
      for (std::size_t k = 0; k < n_; ++k) {
        const double gradient = log_a[k] - scores[k];
        sum += std::exp(log_a[k]) * gradient;
        low = std::min(low, gradient), high = std::max(high, gradient);
      }
      violates[i] = high - low > options_.epsilon;
      return std::max(sum, 0.0);
    });
    for (std::size_t i = 0; i < violates.size(); ++i)
      if (violates[i]) active_.push_back(static_cast<std::uint32_t>(i));
    removed_gap_ = gap;
    return gap;
  }

  const DualEgOptions& options_;
  const Problem& problem_;
  std::size_t n_;
  std::vector<double> log_alpha_, weights_;
  std::vector<std::uint32_t> active_;
  std::vector<double> scores_, gradient_, alpha_, next_, log_next_, change_;
  double dual_ = 0;
  double removed_gap_ = 0;  // of rows outside the active set, when last looked at
};

}  // namespace

Trainer dual_eg_trainer(const DualEgOptions& options) {
  return [options](const Problem& problem) { return DualEg(options, problem).run(); };
}

}  // namespace hyperbaton
