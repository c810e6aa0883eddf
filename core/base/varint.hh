// Whole numbers of variable length: seven bits per byte, the low ones first.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/slices.hh"

namespace hyperbaton {

inline void write_varint(std::uint64_t value, std::vector<std::uint8_t>& bytes) {
  for (; value >= 0x80; value >>= 7) bytes.push_back(static_cast<std::uint8_t>(value | 0x80));
  bytes.push_back(static_cast<std::uint8_t>(value));
}

// Read a number from the front of the bytes, and drop it there.
inline std::uint64_t read_varint(std::span<const std::uint8_t>& bytes) {
  std::uint64_t value = 0;
  std::size_t at = 0;
  for (unsigned shift = 0; shift < 64 && at < bytes.size(); shift += 7) {
    const auto byte = bytes[at++];
    value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) {
      bytes = bytes.subspan(at);
      return value;
    }
  }
  throw_damaged("a sorted run is truncated");
}

}  // namespace hyperbaton
