// Rows of values that lie one behind the other, told by offsets.
//
// Offsets and numbers may come from a damaged file that nobody has read whole before: they are checked where they are
// used, so that damage is an error and never an access outside an array.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/errors.hh"

namespace hyperbaton {

[[noreturn, gnu::cold, gnu::noinline]] inline void throw_damaged(const char* what) {
  throw Error(std::string("damaged: ") + what + "; 'hyperbaton verify' tells which file, build the artefact again");
}

// A search in a hash table that is at most half full ends much sooner than after this many places.
inline constexpr std::size_t kMostProbes = 1 << 16;

// Row i: values[offsets[i] .. offsets[i+1]).
template <class T>
std::span<const T> slice(std::span<const T> values, std::span<const std::int64_t> offsets, std::size_t i) {
  if (i + 1 >= offsets.size()) [[unlikely]]
    throw_damaged("a number is out of range");
  // A negative offset becomes a huge one.
  const auto begin = static_cast<std::uint64_t>(offsets[i]), end = static_cast<std::uint64_t>(offsets[i + 1]);
  if (begin > end || end > values.size()) [[unlikely]]
    throw_damaged("offsets do not fit the values");
  return values.subspan(begin, end - begin);
}

}  // namespace hyperbaton
