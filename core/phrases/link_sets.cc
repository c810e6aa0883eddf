#include "phrases/link_sets.hh"

#include "base/errors.hh"

namespace hyperbaton {

std::vector<std::uint32_t> LinkSets::add(std::span<const std::int64_t> offsets, std::span<const InnerLink> points) {
  if (offsets.empty()) throw Error("the links have no offsets");
  std::vector<std::uint32_t> numbers(offsets.size() - 1);
  for (std::size_t k = 0; k < numbers.size(); ++k) numbers[k] = number(slice(points, offsets, k));
  return numbers;
}

std::vector<std::int64_t> LinkSets::offsets() const {
  std::vector<std::int64_t> offsets{0};
  for (std::uint32_t s = 0; s < size(); ++s) offsets.push_back(offsets.back() + static_cast<std::int64_t>(set(s).size()));
  return offsets;
}

std::vector<InnerLink> LinkSets::points() const {
  std::vector<InnerLink> points;
  for (std::uint32_t s = 0; s < size(); ++s) points.insert(points.end(), set(s).begin(), set(s).end());
  return points;
}

}  // namespace hyperbaton
