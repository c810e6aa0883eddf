// Half-precision numbers (IEEE binary16), as they are stored.
#pragma once

#include <bit>
#include <cstdint>

namespace hyperbaton {

// Convert to single precision.
inline float from_half(std::uint16_t half) {
  const std::uint32_t sign = static_cast<std::uint32_t>(half & 0x8000) << 16;
  const std::uint32_t exponent = (half >> 10) & 0x1f, fraction = half & 0x3ff;
  if (exponent == 0x1f) return std::bit_cast<float>(sign | 0x7f800000 | fraction << 13);
  if (exponent == 0) {  // fraction · 2^−24
    const float value = static_cast<float>(fraction) * 0x1p-24f;
    return sign ? -value : value;
  }
  return std::bit_cast<float>(sign | (exponent + 112) << 23 | fraction << 13);
}

// A stored number, which is read as if it were stored in double precision.
struct Half {
  std::uint16_t bits;
  operator double() const { return static_cast<double>(from_half(bits)); }
};

}  // namespace hyperbaton
