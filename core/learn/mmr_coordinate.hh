// The common part of maximum margin regression with linear and kernel inputs: passes over box-constrained variables.
#pragma once

#include <cmath>
#include <limits>

#include "learn/mmr.hh"
#include "learn/random.hh"

namespace hyperbaton {

// Coordinate descent with shrinking on 0 ≤ α ≤ C. `Inputs` provides the gradient Σ_m α_m κ κ of a row (without the −1)
// and its curvature κ(n, n), and is notified of changes of α.
template <class Inputs>
class MmrDescent {
 public:
  MmrDescent(const MmrOptions& options, const Problem& problem, Inputs& inputs)
      : options_(options), problem_(problem), inputs_(inputs), alpha(problem.rows.size(), 0.0) {}

  void run(Fit& fit) {
    Random random(problem_.seed);
    auto active = all_rows(problem_.rows);
    double bar = std::numeric_limits<double>::infinity();
    std::size_t pass = 0;
    Poll poll(problem_.still(pass, options_.max_passes));
    for (; pass < options_.max_passes; ++pass) {
      problem_.report(pass, options_.max_passes);
      fit.history["active"].push_back(static_cast<double>(active.size()));
      const bool complete = active.size() == problem_.rows.size();
      shuffle_rows(problem_.rows, random, active);
      double worst = 0;
      std::size_t n_kept = 0;
      for (std::size_t t = 0; t < active.size(); ++t) {
        poll();
        prefetch_visits(problem_.rows, problem_.labels, std::span<const std::uint32_t>(active), t, alpha.data(), 1);
        const std::uint32_t i = active[t];
        const double gradient = inputs_.gradient(i) - 1;
        const bool blocked = (alpha[i] == 0 && gradient > 0) || (alpha[i] == options_.cost && gradient < 0);
        // At a bound, with a gradient that points outwards more than any interior one of the previous pass.
        if (blocked && std::abs(gradient) > bar) continue;
        active[n_kept++] = i;
        if (blocked) continue;
        worst = std::max(worst, std::abs(gradient));
        move(i, gradient);
      }
      active.resize(n_kept);
      fit.history["objective"].push_back(dual);
      bar = worst;
      if (worst > options_.tolerance) continue;
      if (complete) break;
      active = all_rows(problem_.rows);
      bar = std::numeric_limits<double>::infinity();
    }
  }

 private:
  void move(std::uint32_t i, double gradient) {
    const double curvature = inputs_.curvature(i), old = alpha[i];
    alpha[i] = curvature > 0 ? std::clamp(old - gradient / curvature, 0.0, options_.cost) : options_.cost;
    const double change = alpha[i] - old;
    if (change == 0) return;
    dual += change * (gradient + curvature * change / 2);
    inputs_.moved(i, change);
  }

  const MmrOptions& options_;
  const Problem& problem_;
  Inputs& inputs_;

 public:
  std::vector<double> alpha;
  double dual = 0;
};

}  // namespace hyperbaton
