#include "base/half.hh"

#include <cmath>

#include "testing/testing.hh"

namespace hyperbaton {

TEST("half-precision numbers are converted exactly, with the signs of zeros") {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto exponent = static_cast<int>(bits >> 10 & 0x1f), fraction = static_cast<int>(bits & 0x3ff);
    const float value = from_half(static_cast<std::uint16_t>(bits));
    CHECK(std::signbit(value) == (bits >= 0x8000));
    if (exponent == 0x1f) {
      CHECK(fraction == 0 ? std::isinf(value) : std::isnan(value));
    } else {
      const int significand = exponent == 0 ? fraction : fraction + 0x400;
      CHECK(std::fabs(value) == std::ldexp(static_cast<float>(significand), (exponent == 0 ? 1 : exponent) - 25));
    }
  }
}

}  // namespace hyperbaton
