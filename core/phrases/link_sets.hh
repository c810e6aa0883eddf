// The distinct sets of inner links of phrase pairs: most pairs share theirs with many others.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/interner.hh"
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
  std::uint32_t number(std::span<const InnerLink> links) { return sets_.number(links).first; }
  std::size_t size() const { return sets_.size(); }
  std::span<const InnerLink> set(std::uint32_t number) const { return sets_.run<InnerLink>(number); }
  // All sets, by number: set s is points()[offsets()[s] .. offsets()[s+1]).
  std::vector<std::int64_t> offsets() const;
  std::vector<InnerLink> points() const;

 private:
  Interner sets_;
};

}  // namespace hyperbaton
