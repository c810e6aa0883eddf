// Features as 64-bit keys: counting which occur often enough, and finding their numbers.
//
// The keys that occur often enough, sorted, are a feature space: a feature's number is the rank of its key. Nothing
// depends on the number of threads.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "base/parallel.hh"

namespace hyperbaton {

// How many keys are held at once unless something else is asked for: 512 MiB of them.
inline constexpr std::size_t kKeysTogether = std::size_t{1} << 26;

struct Counting {
  std::uint32_t min_count;    // occurrences that a feature needs
  std::size_t keys_together;  // about how many keys are held at once
  unsigned n_threads;
};

// Counts equal keys of one partition.
class KeyCounter {
 public:
  explicit KeyCounter(std::size_t n_keys)
      : mask_(std::bit_ceil(2 * n_keys + 2) - 1), keys_(mask_ + 1), counts_(mask_ + 1, 0) {}
  void add(std::uint64_t key) {
    std::size_t slot = static_cast<std::size_t>(key) & mask_;
    while (counts_[slot] != 0 && keys_[slot] != key) slot = (slot + 1) & mask_;
    keys_[slot] = key;
    if (counts_[slot] != std::numeric_limits<std::uint32_t>::max()) ++counts_[slot];
  }
  std::vector<std::uint64_t> frequent(std::uint32_t min_count) const {
    std::vector<std::uint64_t> frequent;
    for (std::size_t slot = 0; slot <= mask_; ++slot)
      if (counts_[slot] != 0 && counts_[slot] >= min_count) frequent.push_back(keys_[slot]);
    std::sort(frequent.begin(), frequent.end());
    return frequent;
  }

 private:
  std::size_t mask_;
  std::vector<std::uint64_t> keys_;
  std::vector<std::uint32_t> counts_;
};

// Throws Error where features cannot have a number each.
inline void check_number(std::size_t n_features) {
  if (n_features >= static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()))
    throw Error("more features than can be numbered: raise the minimum count");
}

// What is counted: items of work, and about how many keys they have in all.
struct KeySource {
  std::size_t n_items, n_keys;
};

// The keys that at least min_count items emit, sorted. `make_worker()` gives a callable (item, emit) that calls emit(key)
// for each key of an item; each chunk of items has a worker of its own. Keys are counted in rounds by their top bits, so
// that a round holds about keys_together of them; each round goes through all items again.
template <class MakeWorker>
std::vector<std::uint64_t> count_keys(const KeySource& source, const Counting& options, const Progress& progress,
                                      const MakeWorker& make_worker) {
  constexpr unsigned kPartitionBits = 8;
  constexpr std::size_t kPartitions = std::size_t{1} << kPartitionBits;
  constexpr std::size_t kCountChunks = 64;
  const std::size_t n = source.n_items;
  const std::size_t n_rounds = std::bit_ceil(source.n_keys / options.keys_together + 1);
  const unsigned round_bits = static_cast<unsigned>(std::bit_width(n_rounds) - 1);
  const std::size_t chunk_size = n / kCountChunks + 1, n_chunks = n == 0 ? 0 : (n - 1) / chunk_size + 1;
  std::vector<std::uint64_t> all;
  for (std::size_t round = 0; round < n_rounds; ++round) {
    std::vector<std::array<std::vector<std::uint64_t>, kPartitions>> parts(n_chunks);
    const Progress report = [&](std::size_t done, std::size_t) {
      return !progress || progress(round * n + done, n_rounds * n);
    };
    parallel_chunks(n, chunk_size, options.n_threads, report, [&](std::size_t begin, std::size_t end) {
      auto& mine = parts[begin / chunk_size];
      auto worker = make_worker();
      for (std::size_t i = begin; i < end; ++i)
        worker(i, [&](std::uint64_t key) {
          const std::size_t partition = static_cast<std::size_t>(key >> (64 - round_bits - kPartitionBits));
          if (partition >> kPartitionBits == round) mine[partition & (kPartitions - 1)].push_back(key);
        });
    });
    std::array<std::vector<std::uint64_t>, kPartitions> kept;
    parallel_chunks(kPartitions, 1, options.n_threads, {}, [&](std::size_t p, std::size_t) {
      std::size_t n_keys = 0;
      for (const auto& part : parts) n_keys += part[p].size();
      KeyCounter counter(n_keys);
      for (auto& part : parts) {
        for (const std::uint64_t key : part[p]) counter.add(key);
        std::vector<std::uint64_t>().swap(part[p]);
      }
      kept[p] = counter.frequent(options.min_count);
    });
    for (const auto& part : kept) all.insert(all.end(), part.begin(), part.end());
  }
  check_number(all.size());
  return all;
}

// Finds keys through a table on their top bits. Most keys that are looked for are not there: a bit for each value of the
// low bits of a key, 16 bits for each key, tells nearly all of those apart at the cost of one access to memory.
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
  std::uint64_t key(std::int32_t rank) const { return keys_[static_cast<std::size_t>(rank)]; }
  void prefetch_filter(std::uint64_t key) const { __builtin_prefetch(&filter_[filter_word(key)]); }
  bool may_have(std::uint64_t key) const { return (filter_[filter_word(key)] & filter_bit(key)) != 0; }
  void prefetch_bucket(std::uint64_t key) const { __builtin_prefetch(&starts_[static_cast<std::size_t>(key >> shift_)]); }
  void prefetch_key(std::uint64_t key) const {
    __builtin_prefetch(keys_.data() + starts_[static_cast<std::size_t>(key >> shift_)]);
  }
  // The rank of a key, -1 if it is not there.
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
