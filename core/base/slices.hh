// Concatenated rows of values, delimited by offsets.
//
// Offsets and numbers may come from a damaged file that has not been read completely: they are checked on use, so that
// damage raises an error and never causes an out-of-range access.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/errors.hh"
#include "base/size.hh"

namespace hyperbaton {

[[noreturn, gnu::cold, gnu::noinline]] inline void throw_damaged(const char* what) { throw Damaged(what); }

// A probe of a hash table that is at most half full ends long before this many slots.
inline constexpr std::size_t kMostProbes = 1 << 16;

// Row i: values[offsets[i] .. offsets[i+1]).
template <class T>
std::span<const T> slice(std::span<const T> values, std::span<const std::int64_t> offsets, std::size_t i) {
  if (i + 1 >= offsets.size()) [[unlikely]]
    throw_damaged("a number is out of range");
  // A negative offset becomes a huge unsigned one.
  const auto begin = static_cast<std::uint64_t>(offsets[i]), end = static_cast<std::uint64_t>(offsets[i + 1]);
  if (begin > end || end > values.size()) [[unlikely]]
    throw_damaged("offsets do not match the values");
  return values.subspan(begin, end - begin);
}

// Row i if the offsets are known to fit the values.
template <class Values>
auto valid_slice(const Values& values, std::span<const std::int64_t> offsets, std::size_t i) {
  return std::span(values).subspan(to_size(offsets[i]), to_size(offsets[i + 1] - offsets[i]));
}

// Such rows.
template <class T>
struct SlicesView {
  std::span<const T> values;
  std::span<const std::int64_t> offsets;
  std::size_t size() const { return offsets.size() - 1; }
  std::span<const T> operator[](std::size_t i) const { return valid_slice(values, offsets, i); }
};

// Whether offsets divide this many values into rows.
inline bool are_offsets(std::span<const std::int64_t> offsets, std::size_t n_values) {
  return !offsets.empty() && offsets.front() == 0 && std::ranges::is_sorted(offsets) && to_size(offsets.back()) == n_values;
}

}  // namespace hyperbaton
