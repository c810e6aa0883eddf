#include "tune/mira.hh"

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/hash.hh"

namespace hyperbaton {

namespace {

double dot(std::span<const double> a, std::span<const double> b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

void update(const NBestView& nbest, std::span<const double> gains, std::size_t sentence, double max_step,
            std::vector<double>& weights) {
  std::size_t hope = 0, fear = 0;
  double best_hope = -std::numeric_limits<double>::infinity(), best_fear = best_hope;
  for (std::int64_t c = nbest.offsets[sentence]; c < nbest.offsets[sentence + 1]; ++c) {
    const double model = dot(weights, nbest.features_of(c));
    if (model + gains[c] > best_hope) best_hope = model + gains[c], hope = c;
    if (model - gains[c] > best_fear) best_fear = model - gains[c], fear = c;
  }
  const auto good = nbest.features_of(hope), bad = nbest.features_of(fear);
  double margin = 0, norm = 0;
  for (std::size_t f = 0; f < good.size(); ++f) {
    margin += weights[f] * (good[f] - bad[f]);
    norm += (good[f] - bad[f]) * (good[f] - bad[f]);
  }
  const double loss = gains[hope] - gains[fear] - margin;
  if (!(loss > 0) || norm <= 0) return;
  const double step = std::min(max_step, loss / norm);
  for (std::size_t f = 0; f < good.size(); ++f) weights[f] += step * (good[f] - bad[f]);
}

}  // namespace

std::vector<double> mira(const NBestView& nbest, std::span<const double> gains, std::span<const double> start,
                         const MiraOptions& options, const Progress& progress) {
  const std::size_t d = nbest.n_features, n = nbest.n_sentences();
  std::vector<double> weights(start.begin(), start.end()), sum(d, 0.0), averages;
  std::vector<std::uint32_t> order(n);
  std::iota(order.begin(), order.end(), 0u);
  for (std::size_t pass = 0; pass < options.n_passes; ++pass) {
    const std::uint64_t seed = combine(options.seed, pass);
    for (std::size_t i = n; i > 1; --i) std::swap(order[i - 1], order[((combine(seed, i) >> 32) * i) >> 32]);
    for (const std::uint32_t s : order) {
      update(nbest, gains, s, options.max_step, weights);
      for (std::size_t f = 0; f < d; ++f) sum[f] += weights[f];
    }
    const double n_visits = static_cast<double>((pass + 1) * n);
    for (const double value : sum) averages.push_back(value / n_visits);
    if (progress && !progress(pass + 1, options.n_passes)) throw Cancelled();
  }
  return averages;
}

}  // namespace hyperbaton
