#include "block/training.hh"

#include <cmath>

#include "base/math.hh"
#include "learn/passes.hh"

namespace hyperbaton {

namespace {

// Solve Σ_m sums[m] exp(m δ) + (λ + δ) / σ² = observed for δ by Newton's method on a convex, increasing function: from
// the right of the solution it never overshoots.
double solve(std::span<const double> sums, double weight, double observed, double variance) {
  constexpr double kFarthest = 5;  // the longest step
  double delta = 0;
  for (int round = 0; round < 200; ++round) {
    double value = (weight + delta) / variance - observed, slope = 1 / variance;
    for (std::size_t m = 1; m < sums.size(); ++m) {
      const double term = sums[m] * math::exp(static_cast<double>(m) * delta);
      value += term;
      slope += static_cast<double>(m) * term;
    }
    const double next = std::clamp(delta - value / slope, -kFarthest, kFarthest);
    if (std::abs(next - delta) < 1e-12) return next;
    delta = next;
  }
  return delta;
}

}  // namespace

Minimum scale_blocks(const BlockObjective& objective, std::vector<double> start, const ScalingOptions& options,
                     const Progress& progress) {
  const std::size_t most = objective.most_features(), width = most + 1;
  std::vector<double> sums(objective.n_parameters() * width);
  Minimum minimum{std::move(start), {}};
  const auto observed = objective.observed();
  for (std::size_t pass = 0;; ++pass) {
    const Progress within = [&](std::size_t, std::size_t) { return !progress || progress(pass, options.max_passes); };
    auto& x = minimum.x;
    const double loss =
        objective.expectations(x, most, sums, within) + dot(x, x, objective.n_threads()) / (2 * options.variance);
    const bool settled = !minimum.objective.empty() &&
                         minimum.objective.back() - loss < options.tolerance * std::abs(minimum.objective.back());
    minimum.objective.push_back(loss);
    if (settled || pass >= options.max_passes) return minimum;
    if (!within(0, 0)) throw Cancelled();
    parallel_chunks(x.size(), 4096, objective.n_threads(), {}, [&](std::size_t begin, std::size_t end) {
      for (std::size_t f = begin; f < end; ++f)
        x[f] += solve(std::span(sums).subspan(f * width, width), x[f], observed[f], options.variance);
    });
  }
}

}  // namespace hyperbaton
