// Decimal numbers as text, in and out, the same in every locale.
#pragma once

#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

namespace hyperbaton {

// The finite number that the whole text spells, rounded to the nearest float.
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

// Append the shortest text that reads back as the same float; zero has no sign.
inline void append_float(std::string& text, float value) {
  char number[32];
  if (value == 0) value = 0;
#if defined(__cpp_lib_to_chars)
  text.append(number, std::to_chars(number, number + sizeof number, value).ptr);
#else
  text.append(number, static_cast<std::size_t>(std::snprintf(number, sizeof number, "%.9g", static_cast<double>(value))));
#endif
}

}  // namespace hyperbaton
