// The distinct sets of inner links of phrase pairs: most pairs share theirs with many others.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/numbers_view.hh"

namespace hyperbaton {

// A link inside a phrase pair, by positions in the phrases.
struct InnerLink {
  std::uint8_t source, target;
  bool operator==(const InnerLink&) const = default;
};
static_assert(sizeof(InnerLink) == 2, "inner links are stored as pairs of bytes");

// Set s is points[offsets[s] .. offsets[s+1]); pair k has set numbers[k].
struct LinkSetsView {
  NumbersView numbers, offsets;
  std::span<const InnerLink> points;
  std::span<const InnerLink> operator[](std::size_t pair) const {
    const auto range = range_of(offsets, numbers[pair], points.size());
    return points.subspan(range.first, range.size());
  }
};

// Numbers sets of links in the order in which they first occur.
class LinkSets {
 public:
  // The numbers of sets; set k is points[offsets[k] .. offsets[k+1]).
  std::vector<std::uint32_t> add(std::span<const std::int64_t> offsets, std::span<const InnerLink> points);
  std::uint32_t number(std::span<const InnerLink> links);
  std::size_t size() const { return offsets_.size() - 1; }
  std::span<const InnerLink> set(std::size_t number) const { return slice(std::span(points_), offsets_, number); }
  const std::vector<std::int64_t>& offsets() const { return offsets_; }
  const std::vector<InnerLink>& points() const { return points_; }

 private:
  void grow();

  std::vector<std::int64_t> offsets_{0};
  std::vector<InnerLink> points_;
  std::vector<std::uint32_t> slots_ = std::vector<std::uint32_t>(1 << 10, kFree);  // at most half of them are in use
  static constexpr std::uint32_t kFree = 0xffffffff;
};

}  // namespace hyperbaton
