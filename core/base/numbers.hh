// Decimal numbers as text, independent of the locale.
#pragma once

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

namespace hyperbaton {

// Parse the whole text as a finite number, rounded to the nearest float.
inline std::optional<float> parse_float(std::string_view text) {
  float value = 0;
#if defined(__cpp_lib_to_chars)
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
#else
  const std::string copy(text);
  char* end = nullptr;
  value = std::strtof(copy.c_str(), &end);
  if (copy.empty() || end != copy.c_str() + copy.size()) return std::nullopt;
#endif
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

inline constexpr std::size_t kMaxFloatText = 16;  // bytes

// Write the shortest text that parses to this float, at most kMaxFloatText bytes; zero has no sign. Returns the end of
// the text.
inline char* write_float(char* text, float value) {
  if (value == 0) value = 0;
#if defined(__cpp_lib_to_chars)
  return std::to_chars(text, text + kMaxFloatText, value).ptr;
#else
  char number[32];
  const auto length = std::snprintf(number, sizeof number, "%.9g", static_cast<double>(value));
  return std::copy_n(number, length, text);
#endif
}

inline constexpr std::size_t kMaxSixDigits = 16;  // bytes

// Write a number with six significant digits as C++ streams do (printf's %.6g). Returns the end of the text; up to
// kMaxSixDigits bytes may be overwritten.
char* write_six_digits(char* text, double value);

// Round a number as if written with six digits and read again, as happens between Moses' programs.
float round_six_digits(double value);

}  // namespace hyperbaton
