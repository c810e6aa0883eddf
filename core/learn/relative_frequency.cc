#include "learn/relative_frequency.hh"

#include "base/math.hh"

namespace hyperbaton {

Trainer relative_frequency_trainer(const RelativeFrequencyOptions& options) {
  return [options](const Problem& problem) {
    if (!problem.rows.options().constant) throw Error("relative frequencies need the constant feature");
    const std::size_t n = problem.n_classes;
    std::vector<double> counts(n, 0.0);
    for (std::size_t i = 0; i < problem.rows.size(); ++i) ++counts[problem.label(i)];
    const double pseudo = options.smoothing * static_cast<double>(n);
    Fit fit;
    fit.weights.assign(problem.rows.width() * n, 0.0);
    double loss = 0;
    for (std::size_t k = 0; k < n; ++k) {
      const double logprob = math::log(counts[k] + pseudo * options.expected[k]) -
                             math::log(static_cast<double>(problem.rows.size()) + pseudo);
      fit.weights[problem.rows.n_features() * n + k] = logprob;
      if (counts[k] > 0) loss -= counts[k] * logprob;
    }
    fit.history["objective"] = {loss};
    return fit;
  };
}

}  // namespace hyperbaton
