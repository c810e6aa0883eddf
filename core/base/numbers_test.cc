#include "base/numbers.hh"

#include <cstdint>
#include <cstdio>
#include <string>

#include "base/hash.hh"
#include "base/size.hh"
#include "testing/testing.hh"

using namespace hyperbaton;

namespace {

std::string six_digits(double value) {
  char text[kMaxSixDigits];
  return {text, write_six_digits(text, value)};
}

double power_of_ten(int exponent) {
  double power = 1;
  for (int i = 0; i < exponent; ++i) power *= 10;
  for (int i = 0; i > exponent; --i) power /= 10;
  return power;
}

std::string printed(double value) {
  char text[32];
  return {text, to_size(std::snprintf(text, sizeof text, "%.6g", value))};
}

}  // namespace

TEST("six digits are rounded as by printf") {
  for (const double value : {0.0,      -0.0,     1.0,      -1.5,      0.5,       0.1,          100000.0,      999999.0,
                             999999.4, 999999.5, 999999.7, 1e6,       1e-4,      0.0000999999, 0.00009999995, 1e-16,
                             1e-37,    3e-40,    1e300,    0.1234565, 0.1234575, 2.5e-5,       123456.5,      123457.5})
    CHECK(six_digits(value) == printed(value));
  std::uint64_t state = 1;
  for (int i = 0; i < 200'000; ++i) {
    state = mix(state + 1);
    const double uniform = static_cast<double>(state >> 11) * 0x1p-53;
    const int exponent = static_cast<int>(state % 46) - 39;
    const double value = uniform * power_of_ten(exponent);
    CHECK(six_digits(value) == printed(value));
    CHECK(six_digits(static_cast<float>(value)) == printed(static_cast<float>(value)));
    // Ratios of small counts, and numbers whose seventh digit is a five.
    const double ratio = static_cast<double>(1 + state % 500) / static_cast<double>(1 + (state >> 32) % 500);
    CHECK(six_digits(ratio) == printed(ratio));
    const double half = (static_cast<double>(state % 900'000) + 100'000.5) * power_of_ten(exponent - 6);
    CHECK(six_digits(half) == printed(half));
    for (const double rounded : {value, ratio, half}) CHECK(round_six_digits(rounded) == parse_float(printed(rounded)));
  }
}
