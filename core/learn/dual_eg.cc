#include "learn/dual_eg.hh"

#include <array>
#include <atomic>
#include <cmath>
#include <limits>
#include <type_traits>

#include "base/math.hh"
#include "learn/losses.hh"
#include "learn/passes.hh"
#include "learn/visits.hh"

namespace hyperbaton {

namespace {

constexpr double kFixedStep = 0.5;
// A class of vanishing probability changes D by less than its rounding error; such a step must not count as a rise, or
// the row would stay active for ever.
constexpr double kRounding = 1e-14;

// K classes, or any number if K is 0: the compiler keeps the values of a few classes in registers.
template <std::size_t K>
class DualEg {
 public:
  DualEg(const DualEgOptions& options, const Problem& problem)
      : options_(options),
        problem_(problem),
        n_classes_(problem.n_classes),
        random_(problem.seed),
        visits_(problem, random_),
        log_alpha_(problem.rows.size() * n(), problem.room),
        weights_(options.from.weights),
        tolerance_(options.epsilon),
        dual_(options.from.dual),
        removed_gap_(options.from.removed_gap) {
    if constexpr (K == 0)
      for (auto* values : {&scores_, &gradient_, &alpha_, &next_, &log_next_, &change_}) values->resize(n());
  }

  Fit run() {
    if (!weights_.empty()) {
      std::copy(options_.from.log_alpha.begin(), options_.from.log_alpha.end(), log_alpha_.begin());
    } else {
      weights_.assign(problem_.rows.width() * n(), 0.0);
      options_.initial > 0 ? start() : start_empty();
    }
    Fit fit;
    auto& history = fit.history;
    double n_rechecks = 0;
    for (std::size_t pass = options_.from.n_passes; pass < options_.max_passes && visits_.n_active() > 0; ++pass) {
      history["active"].push_back(static_cast<double>(visits_.n_active()));
      double gap = walk(pass);
      if (visits_.n_active() == 0 && options_.recheck) {
        gap = recheck();
        ++n_rechecks;
      }
      history["objective"].push_back(dual_);
      history["gap"].push_back(gap);
      history["rechecks"].push_back(n_rechecks);
      if (options_.drop && pass + 1 < options_.max_passes && keep_active(history)) break;
    }
    history["left"] = {static_cast<double>(visits_.n_active())};
    if (problem_.order.empty()) {
      visits_.put_back(log_alpha_, n());
      for (double& value : log_alpha_) value = math::exp(value);
      history["alpha"].assign(log_alpha_.begin(), log_alpha_.end());
    }
    fit.weights = std::move(weights_);
    return fit;
  }

 private:
  using ByClass = std::conditional_t<K == 0, std::vector<double>, std::array<double, K>>;

  std::size_t n() const { return K == 0 ? n_classes_ : K; }
  double* log_alpha(std::size_t place) { return log_alpha_.data() + place * n(); }
  static bool is_fresh(const double* log_a, std::size_t label) { return log_a[label == 0 ? 1 : 0] == -kInfinity; }

  // Describe the active rows if they are at most half of all; returns whether they are.
  bool keep_active(std::map<std::string, std::vector<double>>& history) const {
    if (visits_.n_active() == 0 || 2 * visits_.n_active() > visits_.size()) return false;
    auto &kept = history["kept"], &log_alpha = history["log-alpha"];
    for (const std::size_t place : visits_.active()) {
      kept.push_back(static_cast<double>(place));
      log_alpha.insert(log_alpha.end(), log_alpha_.begin() + place * n(), log_alpha_.begin() + (place + 1) * n());
    }
    history["removed"] = {removed_gap_};
    return true;
  }

  // All mass on the true class, w = 0, D = 0: the limit of eq. 15. A row gets other mass at its first visit.
  void start_empty() {
    for (std::size_t p = 0; p < visits_.size(); ++p) {
      std::fill_n(log_alpha(p), n(), -kInfinity);
      log_alpha(p)[visits_.label(p)] = 0;
    }
  }

  // α by eq. 15, w by eq. 10, D by eq. 9.
  void start() {
    const double wrong = options_.initial / static_cast<double>(n() - 1), right = 1 - options_.initial;
    for (std::size_t p = 0; p < visits_.size(); ++p) {
      const std::size_t y = visits_.label(p);
      for (std::size_t k = 0; k < n(); ++k) {
        log_alpha(p)[k] = math::log(k == y ? right : wrong);
        change_[k] = options_.variance * (k == y ? 1 - right : -wrong);
      }
      add_row(visits_.row(p), change_, weights_.data());
    }
    const double entropy = right * math::log(right) + options_.initial * math::log(wrong);
    dual_ = dot(weights_, weights_, problem_.n_threads) / (2 * options_.variance) +
            static_cast<double>(visits_.size()) * entropy;
  }

  // One pass over the active rows; returns a bound on the gap of the rows at the time of their visits.
  double walk(std::size_t pass) {
    double gap = 0;
    const auto report = [&] { problem_.report(pass, options_.max_passes); };
    visits_.walk(report, log_alpha_.data(), n(), [&](std::size_t place, const Row& row, std::size_t label) {
      score_row(row, weights_.data(), scores_);
      // Relative to the true class, as in eq. 12: large common terms would swamp small differences of D.
      const double own = scores_[label];
      for (double& score : scores_) score -= own;
      double* log_a = log_alpha(place);
      const double curvature = options_.variance * squared_norm(row);
      if (is_fresh(log_a, label)) {
        gap += enter(log_a, label, curvature);
      } else {
        const double violated = violation(log_a);
        // KL(α ‖ p) ≤ v²/8 when the range of log α − log p is v.
        const double share = violated * violated / 8;
        if (violated <= tolerance_) {
          removed_gap_ += share;
          return false;
        }
        gap += share;
        for (std::size_t k = 0; k < n(); ++k) alpha_[k] = math::exp(log_a[k]);
        std::fill(change_.begin(), change_.end(), 0.0);
        if (!try_step(log_a, curvature)) return true;
      }
      for (std::size_t step = 1; step < options_.n_steps; ++step)
        if (violation(log_a) <= tolerance_ || !try_step(log_a, curvature)) break;
      add_row(row, change_, weights_.data());
      return true;
    });
    return gap + removed_gap_;
  }

  // Give a row its first α: p(k | x)/(1 + c) for the wrong classes, where c is the curvature, and a step from there. This
  // start never raises D: with β = 1/(1 + c) and q = 1 − p_y, the difference of eq. 13 is at most βq (log β + log p_y − 1
  // + q). Returns the row's contribution to the gap, −log p_y.
  double enter(double* log_a, std::size_t label, double curvature) {
    alpha_ = scores_;
    const double share = softmax(alpha_), log_beta = -math::log1p(curvature), beta = 1 / (1 + curvature);
    const double right = 1 - beta * (1 - alpha_[label]);
    double difference = 0;
    for (std::size_t k = 0; k < n(); ++k) {
      log_a[k] = k == label ? math::log(right) : scores_[k] - share + log_beta;
      alpha_[k] = k == label ? right : beta * alpha_[k];
      const double change = alpha_[k] - (k == label ? 1.0 : 0.0);
      difference += alpha_[k] * log_a[k] - change * scores_[k] + curvature / 2 * change * change;
      scores_[k] -= curvature * change;
      change_[k] = -options_.variance * change;
    }
    dual_ += difference;
    violation(log_a);
    try_step(log_a, curvature);
    return share;
  }

  // ∇ of eq. 12 without the terms common to all classes; returns max − min.
  double violation(const double* log_a) {
    double low = kInfinity, high = -kInfinity;
    for (std::size_t k = 0; k < n(); ++k) {
      gradient_[k] = log_a[k] - scores_[k];
      low = std::min(low, gradient_[k]), high = std::max(high, gradient_[k]);
    }
    return high - low;
  }

  // Newton's step for log α: D's second derivative by log α_k, along the row's own weights, is α_k (1 + c α_k), so class k
  // steps by η_k = 1/(1 + c α_k), and the gradient's level is chosen to keep Σα = 1 to first order.
  void scale_gradient(double curvature) {
    double weight = 0, level = 0;
    for (std::size_t k = 0; k < n(); ++k) {
      next_[k] = 1 / (1 + curvature * alpha_[k]);
      weight += alpha_[k] * next_[k];
      level += alpha_[k] * next_[k] * gradient_[k];
    }
    level /= weight;
    for (std::size_t k = 0; k < n(); ++k) gradient_[k] = next_[k] * (gradient_[k] - level);
  }

  // Lines 10 to 18 of Algorithm 1; on success the row's scores follow eq. 14 without touching its features.
  bool try_step(double* log_a, double curvature) {
    if (options_.newton) scale_gradient(curvature);
    double eta = options_.newton ? 1.0 : kFixedStep;
    for (std::size_t trial = 0; trial < options_.max_trials; ++trial, eta *= 0.5) {
      for (std::size_t k = 0; k < n(); ++k) next_[k] = log_next_[k] = log_a[k] - eta * gradient_[k];
      const double log_total = softmax(next_);
      // D(α′) − D(α) by eq. 13.
      double difference = 0;
      for (std::size_t k = 0; k < n(); ++k) {
        log_next_[k] -= log_total;
        const double change = next_[k] - alpha_[k];
        difference +=
            next_[k] * log_next_[k] - alpha_[k] * log_a[k] - change * scores_[k] + curvature / 2 * change * change;
      }
      if (difference > kRounding) continue;
      dual_ += difference;
      for (std::size_t k = 0; k < n(); ++k) {
        const double change = next_[k] - alpha_[k];
        scores_[k] -= curvature * change;
        change_[k] -= options_.variance * change;
        alpha_[k] = next_[k];
        log_a[k] = log_next_[k];
      }
      return true;
    }
    return false;
  }

  // Check every row; if any violates, all become active again. Continuing with the violating rows alone would not
  // converge: solved against the rest, they push the rest above ε, and so on. Returns the exact gap.
  double recheck() {
    std::atomic<bool> violated = false;
    const double gap = sum_over_rows(visits_.size(), problem_.n_threads, [&](std::size_t place) {
      ByClass scores = scores_;
      score_row(visits_.row(place), weights_.data(), scores);
      const double* log_a = log_alpha_.data() + place * n();
      double sum = log_sum_exp(scores), low = kInfinity, high = -kInfinity;
      for (std::size_t k = 0; k < n(); ++k) {
        const double gradient = log_a[k] - scores[k];
        sum += math::exp(log_a[k]) * gradient;
        low = std::min(low, gradient), high = std::max(high, gradient);
      }
      if (high - low > options_.epsilon) violated = true;
      return std::max(sum, 0.0);
    });
    if (violated) {
      visits_.activate_all();
      tolerance_ /= 2;
    }
    removed_gap_ = gap;
    return gap;
  }

  const DualEgOptions& options_;
  const Problem& problem_;
  std::size_t n_classes_;
  Random random_;
  Visits visits_;
  LargeArray<double> log_alpha_;  // (places, classes)
  std::vector<double> weights_;   // (width, classes)
  ByClass scores_{}, gradient_{}, alpha_{}, next_{}, log_next_{}, change_{};
  double tolerance_;
  double dual_;
  double removed_gap_;  // of rows outside the active set, at their last visit
};

}  // namespace

Trainer dual_eg_trainer(const DualEgOptions& options) {
  return [options](const Problem& problem) {
    switch (problem.n_classes) {
      case 2:
        return DualEg<2>(options, problem).run();
      case 3:
        return DualEg<3>(options, problem).run();
      case 5:
        return DualEg<5>(options, problem).run();
      default:
        return DualEg<0>(options, problem).run();
    }
  };
}

}  // namespace hyperbaton
