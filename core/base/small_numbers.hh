// Mostly small whole numbers: one byte each, with larger ones stored separately.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/size.hh"
#include "base/slices.hh"

namespace hyperbaton {

// Number i is small[i], or large[k] if i is rows[k]; the rows increase, and small is 0 there.
struct SmallNumbersView {
  std::span<const std::uint8_t> small;
  std::span<const std::int64_t> rows;
  std::span<const std::uint32_t> large;

  std::size_t size() const { return small.size(); }
  std::uint32_t operator[](std::size_t i) const {
    if (i >= small.size()) [[unlikely]]
      throw_damaged("a number is out of range");
    return small[i] != 0 ? small[i] : large_at(static_cast<std::int64_t>(i));
  }

 private:
  std::uint32_t large_at(std::int64_t row) const {
    const auto found = std::ranges::lower_bound(rows, row);
    return found != rows.end() && *found == row ? large[to_size(found - rows.begin())] : 0;
  }
};

}  // namespace hyperbaton
