// Structures of columns, one row after the other: those of the parts of a text are joined.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace hyperbaton {

template <auto... kColumns, class T>
void append_columns(T& all, const T& part) {
  ((all.*kColumns).insert((all.*kColumns).end(), (part.*kColumns).begin(), (part.*kColumns).end()), ...);
}

// The columns of all parts, which are freed one by one.
template <auto... kColumns, class T>
void join_columns(T& all, std::vector<T>& parts) {
  const auto join = [&](auto column) {
    std::size_t n = 0;
    for (const T& part : parts) n += (part.*column).size();
    (all.*column).reserve(n);
    for (T& part : parts) {
      const auto own = std::exchange(part.*column, {});
      (all.*column).insert((all.*column).end(), own.begin(), own.end());
    }
  };
  (join(kColumns), ...);
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
