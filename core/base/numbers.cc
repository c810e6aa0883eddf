#include "base/numbers.hh"

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>

namespace hyperbaton {

namespace {

// Powers of ten that are exact doubles.
constexpr std::array<double, 23> kTens{1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                       1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
constexpr int kDigits = 6;
constexpr double kLeastSevenDigits = 999'999.5;  // once rounded

static_assert(std::endian::native == std::endian::little, "digits are made in the bytes of a word");

char* write_any(char* text, double value) {
#if defined(__cpp_lib_to_chars)
  return std::to_chars(text, text + kMaxSixDigits, value, std::chars_format::general, kDigits).ptr;
#else
  return text + std::snprintf(text, kMaxSixDigits, "%.6g", value);
#endif
}

// The number digits · 10^(exponent - 5), where `digits` has six digits.
struct Six {
  std::uint32_t digits;
  int exponent;
};

// Write it without trailing zeros.
char* write_digits(char* text, Six number) {
  constexpr std::size_t room = 8;  // always copied whole, which is faster than finding the length
  std::array<char, room + kDigits> spelled{};
  const int exponent = number.exponent;
  // Eight digits in the bytes of a word, two zeros last: split into halves of four, then of two, then of one.
  const std::uint64_t fours = number.digits / 100 | std::uint64_t{number.digits % 100 * 100} << 32;
  const auto hundreds = (fours * 10486 >> 20) & 0x7f0000007f;
  const auto twos = hundreds | (fours - 100 * hundreds) << 16;
  const auto tens = (twos * 103 >> 10) & 0x000f000f000f000f;
  const auto ones = tens | (twos - 10 * tens) << 8;
  const int n = (71 - std::countl_zero(ones)) / 8;
  const auto characters = ones | 0x3030303030303030;
  std::memcpy(spelled.data(), &characters, room);
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

// The number is scaled to six digits before the decimal point and rounded. A product with an exact power of ten has a
// relative error of at most 2^-53, and two products have an error below 1e-9 here: only if the fraction is that close to
// a half must the exact method decide.
std::optional<Six> six_digits(double value) {
  const bool small = value < 1e-16;
  const double number = small ? value * kTens[21] : value;
  const int log2 = static_cast<int>(std::bit_cast<std::uint64_t>(number) >> 52) - 1023;
  int tens = kDigits - 1 - ((log2 * 1233) >> 12);  // 1233 / 4096 is log10 of 2
  double scaled = number * kTens[tens];
  if (scaled >= 1e6) scaled = number * kTens[--tens];
  auto digits = static_cast<std::uint32_t>(scaled);
  const double rest = scaled - digits;
  if (std::abs(rest - 0.5) < 1e-9) return std::nullopt;
  digits += rest > 0.5;
  const int exponent = kDigits - 1 - tens - (small ? 21 : 0);
  return digits == 1'000'000 ? Six{100'000, exponent + 1} : Six{digits, exponent};
}

}  // namespace

char* write_six_digits(char* text, double value) {
  if (!(value >= 1e-37 && value < kLeastSevenDigits)) return write_any(text, value);
  if (const auto whole = static_cast<std::uint32_t>(value); whole == value)
    return std::to_chars(text, text + kDigits, whole).ptr;
  const auto six = six_digits(value);
  return six ? write_digits(text, *six) : write_any(text, value);
}

// A quotient of two exact doubles is the double nearest to the number, and so rounded to the float nearest to it, unless it
// is half-way between two floats.
float round_six_digits(double value) {
  if (value >= 1e-16 && value < kLeastSevenDigits) {
    if (const auto whole = static_cast<std::uint32_t>(value); whole == value) return static_cast<float>(whole);
    if (const auto six = six_digits(value)) {
      const double quotient = six->digits / kTens[kDigits - 1 - six->exponent];
      if ((std::bit_cast<std::uint64_t>(quotient) & 0x1fffffff) != 0x10000000) return static_cast<float>(quotient);
    }
  }
  char text[kMaxSixDigits];
  return parse_float({text, write_six_digits(text, value)}).value_or(0);
}

}  // namespace hyperbaton
