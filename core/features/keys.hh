// Features as 64-bit keys, and their numbers.
//
// The sorted keys that occur often enough (key_counting.hh) form a feature space: a feature's number is the rank of its
// key.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "base/parallel.hh"
#include "base/size.hh"

namespace hyperbaton {

// Throws Error if there are too many features to number.
inline void check_number(std::size_t n_features) {
  if (n_features >= to_size(std::numeric_limits<std::int32_t>::max()))
    throw Error("more features than can be numbered: raise the minimum count");
}

// Finds keys through a table on their top bits. Most queried keys are absent: a bit for each value of the low bits of a
// key, 16 bits for each key, rejects nearly all of them with one memory access.
class KeyIndex {
 public:
  explicit KeyIndex(std::span<const std::uint64_t> keys) : keys_(keys) {
    const unsigned bits = std::max(1u, static_cast<unsigned>(std::bit_width(keys.size())));
    shift_ = 64 - bits;
    starts_.assign((std::size_t{1} << bits) + 1, 0);
    filter_.assign(std::max<std::size_t>(std::bit_ceil(keys.size() / 4 + 1), 1), 0);
    for (const std::uint64_t key : keys) {
      ++starts_[static_cast<std::size_t>(key >> shift_) + 1];
      filter_[filter_word(key)] |= filter_bit(key);
    }
    for (std::size_t b = 1; b < starts_.size(); ++b) starts_[b] += starts_[b - 1];
  }
  std::size_t size() const { return keys_.size(); }
  std::uint64_t key(std::int32_t rank) const { return keys_[to_size(rank)]; }
  void prefetch_filter(std::uint64_t key) const { __builtin_prefetch(&filter_[filter_word(key)]); }
  bool may_have(std::uint64_t key) const { return (filter_[filter_word(key)] & filter_bit(key)) != 0; }
  void prefetch_bucket(std::uint64_t key) const { __builtin_prefetch(&starts_[static_cast<std::size_t>(key >> shift_)]); }
  void prefetch_key(std::uint64_t key) const {
    __builtin_prefetch(keys_.data() + starts_[static_cast<std::size_t>(key >> shift_)]);
  }
  // The rank of a key, or -1.
  std::int32_t find(std::uint64_t key) const {
    const std::size_t bucket = static_cast<std::size_t>(key >> shift_);
    for (std::uint32_t at = starts_[bucket]; at < starts_[bucket + 1]; ++at)
      if (keys_[at] == key) return static_cast<std::int32_t>(at);
    return -1;
  }

 private:
  std::size_t filter_word(std::uint64_t key) const { return static_cast<std::size_t>(key >> 6) & (filter_.size() - 1); }
  static std::uint64_t filter_bit(std::uint64_t key) { return std::uint64_t{1} << (key & 63); }

  std::span<const std::uint64_t> keys_;
  unsigned shift_;
  std::vector<std::uint64_t> filter_;
  std::vector<std::uint32_t> starts_;
};

}  // namespace hyperbaton
