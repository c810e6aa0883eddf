#include "phrases/link_sets.hh"

#include <algorithm>

#include "base/errors.hh"
#include "base/hash.hh"

namespace hyperbaton {

namespace {

std::uint64_t hash_links(std::span<const InnerLink> links) {
  return hash_bytes({reinterpret_cast<const char*>(links.data()), links.size_bytes()});
}

}  // namespace

std::vector<std::uint32_t> LinkSets::add(std::span<const std::int64_t> offsets, std::span<const InnerLink> points) {
  if (offsets.empty()) throw Error("the links have no offsets");
  std::vector<std::uint32_t> numbers(offsets.size() - 1);
  for (std::size_t k = 0; k < numbers.size(); ++k) numbers[k] = number(slice(points, offsets, k));
  return numbers;
}

std::uint32_t LinkSets::number(std::span<const InnerLink> links) {
  const auto n_sets = offsets_.size() - 1;
  if (2 * n_sets >= slots_.size()) grow();
  std::size_t at = hash_links(links) & (slots_.size() - 1);
  while (slots_[at] != kFree && !std::ranges::equal(set(slots_[at]), links)) at = (at + 1) & (slots_.size() - 1);
  if (slots_[at] == kFree) {
    if (n_sets >= kFree) throw Error("there are more than 4,294,967,294 sets of links");
    points_.insert(points_.end(), links.begin(), links.end());
    offsets_.push_back(static_cast<std::int64_t>(points_.size()));
    slots_[at] = static_cast<std::uint32_t>(n_sets);
  }
  return slots_[at];
}

void LinkSets::grow() {
  slots_.assign(2 * slots_.size(), kFree);
  for (std::uint32_t s = 0; s + 1 < offsets_.size(); ++s) {
    std::size_t at = hash_links(set(s)) & (slots_.size() - 1);
    while (slots_[at] != kFree) at = (at + 1) & (slots_.size() - 1);
    slots_[at] = s;
  }
}

}  // namespace hyperbaton
