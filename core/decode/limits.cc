#include "decode/limits.hh"

#include <algorithm>

namespace hyperbaton {

namespace {

template <class T>
std::span<const T> of_sentence(std::span<const T> all, std::size_t sentence) {
  const auto [first, last] = std::ranges::equal_range(all, sentence, {}, &T::sentence);
  return {first, last};
}

}  // namespace

OrderLimits::OrderLimits(const Limits& limits, std::size_t sentence, std::span<const Wall> walls,
                         std::span<const Zone> zones)
    : distortion_(limits.distortion) {
  if (!limits.constraints) return;
  walls_ = of_sentence(walls, sentence);
  zones_ = of_sentence(zones, sentence);
}

bool OrderLimits::allowed(const Coverage& before, int first_gap, SourceSpan next) const {
  const bool fills_gap = next.begin == first_gap;
  // After this phrase, the first gap must still be within reach.
  if (distortion_ >= 0 && !fills_gap && std::abs(next.end - first_gap) > distortion_) return false;
  if (!fills_gap)
    for (const auto wall : walls_)
      if (wall.after >= first_gap && wall.after + 1 < next.end) return false;
  for (const auto zone : zones_) {
    const SourceSpan inside{zone.begin, zone.end};
    if (before.all(inside)) continue;
    const bool meets = next.begin < inside.end && inside.begin < next.end;
    if (!meets && before.any(inside)) return false;
    const bool leaves = next.begin < inside.begin || next.end > inside.end;
    if (meets && leaves) {
      const int begin = std::max(next.begin, inside.begin), end = std::min(next.end, inside.end);
      if (!before.all({inside.begin, begin}) || !before.all({end, inside.end})) return false;
    }
  }
  return true;
}

}  // namespace hyperbaton
