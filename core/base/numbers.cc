#include "base/numbers.hh"

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

namespace hyperbaton {

namespace {

// Powers of ten that are exact doubles.
constexpr std::array<double, 23> kTens{1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                       1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
constexpr int kDigits = 6;

char* write_any(char* text, double value) {
#if defined(__cpp_lib_to_chars)
  return std::to_chars(text, text + kMaxSixDigits, value, std::chars_format::general, kDigits).ptr;
#else
  return text + std::snprintf(text, kMaxSixDigits, "%.6g", value);
#endif
}

// Write digits · 10^(exponent - 5), where `digits` has six digits, without trailing zeros.
char* write_digits(char* text, std::uint32_t digits, int exponent) {
  constexpr std::size_t room = 8;  // always copied whole, which is faster than finding the length
  std::array<char, room + kDigits> spelled{};
  int n = 0;
  for (int i = kDigits; i-- > 0; digits /= 10) {
    spelled[i] = static_cast<char>('0' + digits % 10);
    if (n == 0 && spelled[i] != '0') n = i + 1;
  }
  const auto put = [&](int first, int last) {
    std::memcpy(text, spelled.data() + first, room);
    text += last - first;
  };
  if (exponent < -4) {
    put(0, 1);
    if (n > 1) {
      *text++ = '.';
      put(1, n);
    }
    *text++ = 'e';
    *text++ = '-';
    *text++ = static_cast<char>('0' + -exponent / 10);
    *text++ = static_cast<char>('0' + -exponent % 10);
    return text;
  }
  if (exponent < 0) {
    std::memcpy(text, "0.000", 5);
    text += 1 - exponent;
    put(0, n);
    return text;
  }
  put(0, exponent + 1);
  if (n > exponent + 1) {
    *text++ = '.';
    put(exponent + 1, n);
  }
  return text;
}

}  // namespace

// The number is scaled to six digits before the decimal point and rounded. A product with an exact power of ten has a
// relative error of at most 2^-53, and two products have an error below 1e-9 here: only if the fraction is that close to
// a half must the exact method decide.
char* write_six_digits(char* text, double value) {
  if (!(value >= 1e-37 && value < 1e6)) return write_any(text, value);
  if (const auto whole = static_cast<std::uint32_t>(value); whole == value)
    return std::to_chars(text, text + kDigits, whole).ptr;
  const bool small = value < 1e-16;
  const double number = small ? value * kTens[21] : value;
  const int log2 = static_cast<int>(std::bit_cast<std::uint64_t>(number) >> 52) - 1023;
  int tens = kDigits - 1 - ((log2 * 1233) >> 12);  // 1233 / 4096 is log10 of 2
  double scaled = number * kTens[tens];
  if (scaled >= 1e6) scaled = number * kTens[--tens];
  auto digits = static_cast<std::uint32_t>(scaled);
  const double rest = scaled - digits;
  if (std::abs(rest - 0.5) < 1e-9) return write_any(text, value);
  digits += rest > 0.5;
  int exponent = kDigits - 1 - tens - (small ? 21 : 0);
  if (digits == 1'000'000) {
    digits = 100'000;
    ++exponent;
  }
  return write_digits(text, digits, exponent);
}

}  // namespace hyperbaton
