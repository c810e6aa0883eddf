// A checksum of the bytes of an array, limited only by memory bandwidth.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <span>

#include "base/hash.hh"

namespace hyperbaton {

// Four independent lanes of 64 bits. With its neighbours fixed, each step is a bijection of the input word, so a change
// within a single word always changes the result.
inline std::uint64_t checksum(std::span<const std::uint8_t> bytes) {
  constexpr std::uint64_t kFactor = 0x9e3779b97f4a7c15ULL;
  std::array<std::uint64_t, 4> lanes{1, 2, 3, 4};
  const std::uint64_t size = bytes.size();
  for (; bytes.size() >= sizeof lanes; bytes = bytes.subspan(sizeof lanes)) {
    std::array<std::uint64_t, 4> words;
    std::memcpy(words.data(), bytes.data(), sizeof words);
    for (std::size_t k = 0; k < lanes.size(); ++k) lanes[k] = std::rotl((lanes[k] ^ words[k]) * kFactor, 29);
  }
  std::uint64_t sum = size;
  for (const auto lane : lanes) sum = combine(sum, lane);
  return combine(sum, hash_bytes({reinterpret_cast<const char*>(bytes.data()), bytes.size()}));
}

}  // namespace hyperbaton
