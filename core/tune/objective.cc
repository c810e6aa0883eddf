#include "tune/objective.hh"

#include "base/errors.hh"
#include "base/math.hh"

namespace hyperbaton {

namespace {

double bleu(const BleuOptions& options, std::span<const double> sums) {
  const double length = sums[0], reference_length = sums[1];
  const auto matches = sums.subspan(2, options.max_order), totals = sums.subspan(2 + options.max_order, options.max_order);
  bool any = false;
  double missing = 1, precisions = 1;
  for (std::size_t n = 0; n < options.max_order; ++n) {
    if (totals[n] <= 0) return 0;
    if (matches[n] > 0) {
      any = true;
      precisions *= matches[n] / totals[n];
    } else {
      if (!options.smooth) return 0;
      missing *= 2;
      precisions /= missing * totals[n];
    }
  }
  if (!any) return 0;
  const double brevity = length < reference_length ? 1 - reference_length / length : 0;
  return 100 * math::exp(brevity + math::log(precisions) / static_cast<double>(options.max_order));
}

}  // namespace

Objective bleu_objective(const BleuOptions& options) {
  return [options](std::span<const double> sums, std::size_t width, std::span<double> scores) {
    if (width < 2 + 2 * options.max_order) throw Error("these are not statistics of BLEU");
    for (std::size_t i = 0; i < scores.size(); ++i) scores[i] = bleu(options, sums.subspan(i * width, width));
  };
}

}  // namespace hyperbaton
