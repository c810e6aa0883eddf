#include "learn/scaling.hh"

#include <cmath>

#include "base/math.hh"
#include "base/size.hh"
#include "learn/losses.hh"
#include "learn/passes.hh"

namespace hyperbaton {

namespace {

constexpr std::size_t kFeatureChunk = 256;
constexpr int kMaxNewton = 100;

// A term count · exp(δ · size) of the equation for δ.
struct Term {
  double count, size;
};

// The δ with Σ count·exp(δ·size) + (weight + δ)/σ² = goal. The left side is increasing and convex in δ, so Newton's
// method from a point above the solution converges to it.
double solve_step(std::span<const Term> terms, double weight, double variance, double goal) {
  const auto value = [&](double step, double& slope) {
    double sum = (weight + step) / variance - goal;
    slope = 1 / variance;
    for (const Term& term : terms) {
      const double part = term.count * math::exp(step * term.size);
      sum += part;
      slope += part * term.size;
    }
    return sum;
  };
  double step = 0, slope = 0, excess = value(step, slope);
  // From below, a Newton step can overshoot far: climb by bounded steps until above.
  while (excess < 0) {
    double largest = 0;
    for (const Term& term : terms) largest = std::max(largest, term.size);
    step += std::min(-excess / slope, largest > 0 ? 1 / largest : -excess / slope);
    const double before = excess;
    excess = value(step, slope);
    if (excess <= before) break;
    if (excess > -1e-12 * (1 + std::abs(goal))) break;
  }
  for (int trial = 0; trial < kMaxNewton; ++trial) {
    const double change = excess / slope;
    step -= change;
    if (std::abs(change) <= 1e-12 * (1 + std::abs(step))) break;
    excess = value(step, slope);
  }
  return step;
}

std::vector<double> row_sums(const Rows& rows) {
  std::vector<double> sums(rows.size(), 0.0);
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i].visit([&](FeatureId, double value) { sums[i] += value; });
  return sums;
}

std::vector<double> empirical_counts(const Problem& problem) {
  std::vector<double> counts(problem.rows.width() * problem.n_classes, 0.0);
  for (std::size_t i = 0; i < problem.rows.size(); ++i)
    add_class(problem.rows[i], 1, problem.n_classes, problem.label(i), counts.data());
  return counts;
}

// The passes common to both: `step_all(gradient)` moves the weights.
template <class StepAll>
std::vector<double> scale(const Problem& problem, const ScalingOptions& options, std::vector<double>& weights,
                          const RowLoss& loss, const StepAll& step_all) {
  std::vector<double> objective, gradient(weights.size());
  for (std::size_t pass = 0;; ++pass) {
    problem.report(pass, options.max_passes);
    const double value =
        loss_and_gradient(problem.rows, {problem.n_classes, 0}, weights.data(), loss, gradient, problem.n_threads) +
        dot(weights, weights, problem.n_threads) / (2 * options.variance);
    objective.push_back(value);
    if (pass == options.max_passes) break;
    if (pass > 0 && objective[pass - 1] - value <= options.tolerance * std::abs(value)) break;
    step_all(gradient);
  }
  return objective;
}

}  // namespace

Trainer gis_trainer(const ScalingOptions& options) {
  return [options](const Problem& problem) {
    double largest = 0;
    for (const double sum : row_sums(problem.rows)) largest = std::max(largest, sum);
    const std::vector<double> empirical = empirical_counts(problem);
    Fit fit;
    fit.weights.assign(empirical.size(), 0.0);
    auto& weights = fit.weights;
    fit.history["objective"] =
        scale(problem, options, weights, logistic_loss(problem), [&](std::span<const double> gradient) {
          parallel_chunks(weights.size(), kFeatureChunk, problem.n_threads, {}, [&](std::size_t begin, std::size_t end) {
            for (std::size_t j = begin; j < end; ++j) {
              // The gradient is the model's count minus the empirical one; rounding must not make the former negative.
              const Term term{std::max(gradient[j] + empirical[j], 0.0), largest};
              weights[j] += solve_step({&term, 1}, weights[j], options.variance, empirical[j]);
            }
          });
        });
    return fit;
  };
}

Trainer iis_trainer(const ScalingOptions& options) {
  return [options](const Problem& problem) {
    const std::size_t n = problem.n_classes, width = problem.rows.width();
    const std::vector<double> sums = row_sums(problem.rows), empirical = empirical_counts(problem);
    // The rows of each feature, since its equation needs them all at once.
    struct Entry {
      std::uint32_t row;
      double value;
    };
    std::vector<std::size_t> starts(width + 1, 0);
    for (std::size_t i = 0; i < problem.rows.size(); ++i)
      problem.rows[i].visit([&](FeatureId f, double) { ++starts[to_size(f)]; });
    std::vector<Entry> entries(exclusive_sum(starts));
    std::vector<std::size_t> next = starts;
    for (std::size_t i = 0; i < problem.rows.size(); ++i)
      problem.rows[i].visit(
          [&](FeatureId f, double value) { entries[next[to_size(f)]++] = {static_cast<std::uint32_t>(i), value}; });
    // Sorted by row sum, so that equal powers are adjacent and are added up before the equation is solved.
    for (std::size_t f = 0; f < width; ++f)
      std::stable_sort(entries.begin() + static_cast<std::ptrdiff_t>(starts[f]),
                       entries.begin() + static_cast<std::ptrdiff_t>(starts[f + 1]),
                       [&](const Entry& a, const Entry& b) { return sums[a.row] < sums[b.row]; });

    std::vector<double> probabilities(problem.rows.size() * n);
    const RowLoss logistic = logistic_loss(problem);
    const RowLoss loss = [&](std::size_t i, std::span<double> scores, std::span<double> extra) {
      const double value = logistic(i, scores, extra);
      for (std::size_t k = 0; k < n; ++k) {
        probabilities[i * n + k] = scores[k] + (k == problem.label(i) ? 1 : 0);
        scores[k] = 0;
      }
      return value;
    };
    Fit fit;
    fit.weights.assign(width * n, 0.0);
    auto& weights = fit.weights;
    fit.history["objective"] = scale(problem, options, weights, loss, [&](std::span<const double>) {
      parallel_chunks(width, kFeatureChunk, problem.n_threads, {}, [&](std::size_t begin, std::size_t end) {
        std::vector<Term> terms;
        for (std::size_t f = begin; f < end; ++f)
          for (std::size_t k = 0; k < n; ++k) {
            terms.clear();
            for (std::size_t e = starts[f]; e < starts[f + 1]; ++e) {
              const double size = sums[entries[e].row];
              if (terms.empty() || terms.back().size != size) terms.push_back({0, size});
              terms.back().count += probabilities[entries[e].row * n + k] * entries[e].value;
            }
            weights[f * n + k] += solve_step(terms, weights[f * n + k], options.variance, empirical[f * n + k]);
          }
      });
    });
    return fit;
  };
}

}  // namespace hyperbaton
