// Structures of columns, one row after the other: those of the parts of a text are joined.
#pragma once

#include <cstddef>

namespace hyperbaton {

template <auto... kColumns, class T>
void append_columns(T& all, const T& part) {
  ((all.*kColumns).insert((all.*kColumns).end(), (part.*kColumns).begin(), (part.*kColumns).end()), ...);
}

// Offsets begin with 0; those of the part continue from the last ones.
template <auto... kOffsets, class T>
void append_offsets(T& all, const T& part) {
  const auto append = [](auto& to, const auto& from) {
    const auto base = to.back();
    for (std::size_t i = 1; i < from.size(); ++i) to.push_back(base + from[i]);
  };
  (append(all.*kOffsets, part.*kOffsets), ...);
}

}  // namespace hyperbaton
