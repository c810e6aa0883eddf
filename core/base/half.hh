// Half-precision numbers (IEEE binary16), as they are stored.
#pragma once

#include <bit>
#include <cstdint>

namespace hyperbaton {

// Convert to single precision; without branches, so loops over it can be vectorised.
inline float from_half(std::uint16_t half) {
  constexpr std::uint32_t kExponent = 0x1f << 23, kBias = 112 << 23, kOne = 1 << 23;
  const std::uint32_t sign = static_cast<std::uint32_t>(half & 0x8000) << 16;
  const std::uint32_t magnitude = static_cast<std::uint32_t>(half & 0x7fff) << 13, exponent = magnitude & kExponent;
  // Without an exponent, the number is fraction · 2^−24 = (1 + fraction · 2^−10) · 2^−14 − 2^−14.
  const bool small = exponent == 0, infinite = exponent == kExponent;
  const std::uint32_t bits = magnitude + kBias + (small ? kOne : 0) + (infinite ? kBias : 0);
  const float value = std::bit_cast<float>(bits) - std::bit_cast<float>(small ? kBias + kOne : 0);
  return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(value));
}

// A stored number, which is read as if it were stored in double precision.
struct Half {
  std::uint16_t bits;
  operator double() const { return static_cast<double>(from_half(bits)); }
};

}  // namespace hyperbaton
