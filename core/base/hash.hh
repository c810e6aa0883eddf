// A 64-bit hash for strings, words and phrases that is identical on every machine.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace hyperbaton {

// A bijection of 64 bits that spreads every input bit over the output (two multiply-xorshift rounds).
inline std::uint64_t mix(std::uint64_t x) {
  x ^= x >> 32;
  x *= 0xd6e8feb86659fd93ULL;
  x ^= x >> 32;
  x *= 0xd6e8feb86659fd93ULL;
  x ^= x >> 32;
  return x;
}

// Where the probe for a key starts in a table of 2^(64 − shift) slots.
inline std::size_t home_slot(std::uint64_t key, unsigned shift) { return key * 0x9e3779b97f4a7c15ULL >> shift; }

inline std::uint64_t combine(std::uint64_t seed, std::uint64_t value) {
  return mix(seed * 0x9e3779b97f4a7c15ULL + value + 1);
}

// A quick hash of numbers.
inline std::uint32_t hash_numbers(const std::uint32_t* numbers, std::size_t n) {
  std::uint64_t hash = n % 2 == 0 ? 0 : numbers[n - 1];
  for (std::size_t i = 0; i + 1 < n; i += 2) {
    const auto two = static_cast<std::uint64_t>(numbers[i]) << 32 | numbers[i + 1];
    hash = (hash ^ two) * 0x9e3779b97f4a7c15ULL;
    hash ^= hash >> 32;
  }
  return static_cast<std::uint32_t>(hash * 0x9e3779b97f4a7c15ULL >> 32);
}

inline std::uint64_t hash_bytes(std::string_view text) {
  std::uint64_t h = text.size();
  while (text.size() >= 8) {
    std::uint64_t word;
    std::memcpy(&word, text.data(), 8);
    h = combine(h, word);
    text.remove_prefix(8);
  }
  std::uint64_t tail = 0;
  if (!text.empty()) std::memcpy(&tail, text.data(), text.size());
  return combine(h, tail);
}

inline std::uint64_t hash_words(std::span<const std::uint32_t> words) {
  std::uint64_t h = words.size();
  for (const auto word : words) h = combine(h, word);
  return h;
}

}  // namespace hyperbaton
