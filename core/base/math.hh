// exp, log, log1p, sigmoid and tanh with the same bits on every processor and with every C library.
//
// C libraries may round these functions differently and select code by processor. Here they are sums and products in a
// fixed order, in double precision, compiled without contraction of a·b+c (CMakeLists.txt). Errors are below one unit in
// the last place, or 1.5 for log1p (tests/property/test_numeric.py). The core uses only these functions; a test rejects
// calls of the library's.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>

namespace hyperbaton {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

namespace math {

namespace detail {

// 2^(j/32) and its rounding error.
struct Power {
  double value, rest;
};
inline constexpr Power kPowers[32] = {
    {0x1.0000000000000p+0, 0x0.0p+0},
    {0x1.059b0d3158574p+0, 0x1.d73e2a475b465p-55},
    {0x1.0b5586cf9890fp+0, 0x1.8a62e4adc610bp-54},
    {0x1.11301d0125b51p+0, -0x1.6c51039449b3ap-54},
    {0x1.172b83c7d517bp+0, -0x1.19041b9d78a76p-55},
    {0x1.1d4873168b9aap+0, 0x1.e016e00a2643cp-54},
    {0x1.2387a6e756238p+0, 0x1.9b07eb6c70573p-54},
    {0x1.29e9df51fdee1p+0, 0x1.612e8afad1255p-55},
    {0x1.306fe0a31b715p+0, 0x1.6f46ad23182e4p-55},
    {0x1.371a7373aa9cbp+0, -0x1.63aeabf42eae2p-54},
    {0x1.3dea64c123422p+0, 0x1.ada0911f09ebcp-55},
    {0x1.44e086061892dp+0, 0x1.89b7a04ef80d0p-59},
    {0x1.4bfdad5362a27p+0, 0x1.d4397afec42e2p-56},
    {0x1.5342b569d4f82p+0, -0x1.07abe1db13cadp-55},
    {0x1.5ab07dd485429p+0, 0x1.6324c054647adp-54},
    {0x1.6247eb03a5585p+0, -0x1.383c17e40b497p-54},
    {0x1.6a09e667f3bcdp+0, -0x1.bdd3413b26456p-54},
    {0x1.71f75e8ec5f74p+0, -0x1.16e4786887a99p-55},
    {0x1.7a11473eb0187p+0, -0x1.41577ee04992fp-55},
    {0x1.82589994cce13p+0, -0x1.d4c1dd41532d8p-54},
    {0x1.8ace5422aa0dbp+0, 0x1.6e9f156864b27p-54},
    {0x1.93737b0cdc5e5p+0, -0x1.75fc781b57ebcp-57},
    {0x1.9c49182a3f090p+0, 0x1.c7c46b071f2bep-56},
    {0x1.a5503b23e255dp+0, -0x1.d2f6edb8d41e1p-54},
    {0x1.ae89f995ad3adp+0, 0x1.7a1cd345dcc81p-54},
    {0x1.b7f76f2fb5e47p+0, -0x1.5584f7e54ac3bp-56},
    {0x1.c199bdd85529cp+0, 0x1.11065895048ddp-55},
    {0x1.cb720dcef9069p+0, 0x1.503cbd1e949dbp-56},
    {0x1.d5818dcfba487p+0, 0x1.2ed02d75b3707p-55},
    {0x1.dfc97337b9b5fp+0, -0x1.1a5cd4f184b5cp-54},
    {0x1.ea4afa2a490dap+0, -0x1.e9c23179c2893p-54},
    {0x1.f50765b6e4540p+0, 0x1.9d3e12dd8a18bp-54},
};

// ln 2 / 32 and ln 2 in two parts; products of the first part with the possible exponents are exact.
inline constexpr double kThirtySecond = 0x1.62e42fef80000p-6, kThirtySecondRest = 0x1.1cf79abc9e3b4p-41;
inline constexpr double kLn2 = 0x1.62e42fefa4000p-1, kLn2Rest = -0x1.8432a1b0e2634p-43;
inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

inline double power_of_two(std::int64_t exponent) {
  return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52);
}

}  // namespace detail

// exp(x) = 2^e · 2^(j/32) · exp(r) with |r| ≤ ln 2 / 64, where a short series suffices.
inline double exp(double x) {
  using namespace detail;
  if (!(x < 709.8 && x > -745.2)) {
    if (x != x) return x;
    return x > 0 ? kInfinity : 0;
  }
  // Adding 1.5 · 2^52 rounds to an integer in the low bits.
  constexpr double kRound = 0x1.8p52;
  const double shifted = x * 0x1.71547652b82fep+5 + kRound;
  const auto k = static_cast<std::int32_t>(static_cast<std::uint32_t>(std::bit_cast<std::uint64_t>(shifted)));
  const double n = shifted - kRound;
  const double r = (x - n * kThirtySecond) - n * kThirtySecondRest;
  const double square = r * r;
  const double series =
      r + (square * (0.5 + r * (1.0 / 6)) + square * square * ((1.0 / 24 + r * (1.0 / 120)) + square * (1.0 / 720)));
  const Power& power = kPowers[k & 31];
  const double value = power.value + (power.rest + power.value * series);
  const std::int64_t e = k >> 5;
  // Scale in two steps if one would leave the range of exponents.
  if (e > 1023) return value * power_of_two(e - 1) * 2;
  if (e < -1021) return value * power_of_two(e + 200) * 0x1p-200;
  return value * power_of_two(e);
}

// log(x) = k·ln 2 + log(1 + f) with √½ ≤ 1 + f < √2; for s = f / (2 + f) that logarithm is the odd series
// 2(s + s³/3 + s⁵/5 + …) = f − s·(f − R), R = 2s²/3 + 2s⁴/5 + …, in which f is exact and the rest is small.
inline double log(double x) {
  using namespace detail;
  if (!(x > 0 && x < kInfinity)) {
    if (x == 0) return -kInfinity;
    return x > 0 ? x : kNan;
  }
  std::int64_t k = 0;
  if (x < std::numeric_limits<double>::min()) {
    x *= 0x1p54;
    k = -54;
  }
  const auto bits = std::bit_cast<std::uint64_t>(x);
  // Subtracting the bits of √½ makes the exponent the one wanted.
  constexpr std::uint64_t kRootHalf = 0x3fe6a09e00000000;
  const std::uint64_t moved = bits - kRootHalf;
  k += static_cast<std::int64_t>(moved) >> 52;
  const double m = std::bit_cast<double>(bits - (moved & 0xfff0000000000000));
  const double f = m - 1, s = f / (2 + f), z = s * s, w = z * z;
  const double even = 2.0 / 5 + w * (2.0 / 9 + w * (2.0 / 13 + w * (2.0 / 17 + w * (2.0 / 21))));
  const double odd = 2.0 / 3 + w * (2.0 / 7 + w * (2.0 / 11 + w * (2.0 / 15 + w * (2.0 / 19 + w * (2.0 / 23)))));
  const double rest = z * odd + w * even;
  const auto n = static_cast<double>(k);
  return n * kLn2 + (f - (s * (f - rest) - n * kLn2Rest));
}

// log(1 + x), also accurate for small x: the rounding error of 1 + x is added back.
inline double log1p(double x) {
  if (!(x > -1 && x < kInfinity)) return x == -1 ? -kInfinity : x > 0 ? x : detail::kNan;
  const double sum = 1 + x;
  const double lost = x < 1 ? x - (sum - 1) : 1 - (sum - x);
  if (sum == 1) return x;
  return log(sum) + lost / sum;
}

// x^y for x ≥ 0; integer y up to 1024 is computed by multiplication, so squares and cubes are exact products.
inline double pow(double x, double y) {
  if (y == 0) return 1;
  if (y > 0 && y <= 1024 && y == static_cast<double>(static_cast<int>(y))) {
    double result = 1, square = x;
    for (auto n = static_cast<unsigned>(y); n > 0; n >>= 1, square *= square)
      if (n & 1) result *= square;
    return result;
  }
  if (x == 0) return y > 0 ? 0 : kInfinity;
  return exp(y * log(x));
}

// exp(x) in single precision for |x| ≤ 87, to about two units in the last place; x beyond that is clamped to ±87. It has
// no branches or tables, so loops over it can be vectorised.
inline float exp_bounded(float x) {
  x = x < -87.0f ? -87.0f : x > 87.0f ? 87.0f : x;
  constexpr float kRound = 0x1.8p23f;
  const float shifted = x * 0x1.715476p+0f + kRound;
  const float n = shifted - kRound;
  // ln 2 in two parts; products of the first part with the possible exponents are exact.
  const float r = (x - n * 0x1.62e4p-1f) - n * 0x1.7f7d1cp-20f;
  const float series =
      1.0f +
      r * (1.0f + r * (0.5f + r * (0x1.555556p-3f + r * (0x1.555556p-5f + r * (0x1.111112p-7f + r * 0x1.6c16c2p-10f)))));
  const std::int32_t e =
      static_cast<std::int32_t>(std::bit_cast<std::uint32_t>(shifted) - std::bit_cast<std::uint32_t>(kRound));
  return series * std::bit_cast<float>((e + 127) << 23);
}

// 1 / (1 + exp(−x)) and tanh(x) in single precision, to about 1e−7.
inline float sigmoid(float x) { return 1.0f / (1.0f + exp_bounded(-x)); }
inline float tanh(float x) { return 1.0f - 2.0f / (1.0f + exp_bounded(2.0f * x)); }

}  // namespace math

}  // namespace hyperbaton
