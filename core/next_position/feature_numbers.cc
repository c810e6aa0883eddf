#include "next_position/feature_numbers.hh"

#include <numeric>

#include "base/errors.hh"

namespace hyperbaton {

FeatureNumbers::FeatureNumbers(std::size_t n_features, std::size_t n_first, std::size_t n_last)
    : numbers_(n_features, kNone), next_(static_cast<std::uint32_t>(n_first)) {
  if (n_first + n_last > n_features) throw Error("more features keep their numbers than there are");
  std::iota(numbers_.begin(), numbers_.begin() + static_cast<std::ptrdiff_t>(n_first), 0u);
  std::iota(numbers_.end() - static_cast<std::ptrdiff_t>(n_last), numbers_.end(),
            static_cast<std::uint32_t>(n_features - n_last));
}

void FeatureNumbers::renumber(std::span<std::uint32_t> features) {
  constexpr std::size_t kFeaturesAhead = 24;
  for (std::size_t at = 0; at < features.size(); ++at) {
    if (at + kFeaturesAhead < features.size()) __builtin_prefetch(&numbers_[features[at + kFeaturesAhead]], 1);
    features[at] = number_of(features[at]);
  }
}

std::vector<std::uint32_t> FeatureNumbers::order() {
  std::vector<std::uint32_t> order(numbers_.size());
  for (std::size_t feature = 0; feature < numbers_.size(); ++feature)
    order[number_of(feature)] = static_cast<std::uint32_t>(feature);
  return order;
}

}  // namespace hyperbaton
