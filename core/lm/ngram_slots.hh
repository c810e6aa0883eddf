// The n-grams of one order in memory, in either form.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/errors.hh"

namespace hyperbaton {

// A hashed order (`NgramTable`) has slots of `stride` bytes; with bins its values are one-byte numbers of bins. A packed
// order (`PackedTable`) has a stride of one byte, and lists of any length instead of bins.
struct NgramSlots {
  std::span<const std::uint8_t> bytes;
  std::size_t stride;
  std::span<const float> prob_bins, backoff_bins;

  static constexpr std::uint32_t kNone = ~0U;  // the number of no slot
  bool is_packed() const { return stride == 1; }
};

[[noreturn]] inline void throw_mismatch() {
  throw Error("the arrays of the language model do not match: build the artefact again");
}

// Always finite, even in a damaged file; NaN becomes the lowest value. The order of the arguments matters.
inline float bounded_log10(float value) {
  constexpr float most = 1e9F;
  return std::min(std::max(-most, value), most);
}

}  // namespace hyperbaton
