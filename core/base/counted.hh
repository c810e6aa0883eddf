// Counts with nouns for messages: `1 line`, `2 lines`.
#pragma once

#include <concepts>
#include <string>
#include <string_view>

namespace hyperbaton {

inline std::string counted(std::integral auto n, std::string_view noun) {
  std::string text = std::to_string(n);
  text += ' ';
  text += noun;
  if (n != 1) text += 's';
  return text;
}

}  // namespace hyperbaton
