#include "phrases/distance_classes.hh"

#include <functional>

#include "base/errors.hh"

namespace hyperbaton {

void classify_distances(std::span<const std::int16_t> distances, std::span<const std::int32_t> cuts,
                        std::span<std::uint8_t> classes) {
  if (!std::is_sorted(cuts.begin(), cuts.end(), std::less_equal<>())) throw Error("cut points must increase");
  if (cuts.size() > 254) throw Error("there may be at most 254 cut points");
  for (std::size_t i = 0; i < distances.size(); ++i) {
    const auto above = std::upper_bound(cuts.begin(), cuts.end(), static_cast<std::int32_t>(distances[i]));
    classes[i] = static_cast<std::uint8_t>(above - cuts.begin());
  }
}

}  // namespace hyperbaton
