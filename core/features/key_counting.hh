// Finds the keys that occur often enough, in two passes over the source of keys.
//
// Most different keys are rare. The first pass counts all keys in a sieve, with one byte for all keys that share some
// bits, after which most keys are known not to be frequent. The second pass counts the remaining keys exactly in a hash
// table. Threads share both. The result depends on none of this: a sieve that is too small, or a memory limit, only means
// more work.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "base/parallel.hh"
#include "features/keys.hh"

namespace hyperbaton {

struct Counting {
  std::uint32_t min_count;  // least number of occurrences of a feature
  std::size_t bytes;        // approximate memory limit
  unsigned n_threads;
};
inline constexpr std::size_t kAnyMemory = std::numeric_limits<std::size_t>::max();

// The input: items of work, and about how many keys they have in total.
struct KeySource {
  std::size_t n_items, n_keys;
};

// Which keys may be frequent. A count can be too high but never too low.
class KeySieve {
 public:
  KeySieve(std::size_t n_cells, std::uint32_t min_count)
      : enough_(static_cast<std::uint8_t>(std::min<std::uint32_t>(min_count, 255))), cells_(std::bit_ceil(n_cells)) {}
  void prefetch(std::uint64_t key) const { __builtin_prefetch(&cells_[place(key)], 1); }
  // Count a key; true if it has just become a candidate.
  bool add(std::uint64_t key) {
    std::atomic<std::uint8_t>& cell = cells_[place(key)];
    std::uint8_t count = cell.load(std::memory_order_relaxed);
    while (count < enough_)
      if (cell.compare_exchange_weak(count, static_cast<std::uint8_t>(count + 1), std::memory_order_relaxed))
        return count + 1 == enough_;
    return false;
  }
  bool may_be_frequent(std::uint64_t key) const { return cells_[place(key)].load(std::memory_order_relaxed) >= enough_; }

 private:
  std::size_t place(std::uint64_t key) const { return static_cast<std::size_t>(key) & (cells_.size() - 1); }

  std::uint8_t enough_;
  std::vector<std::atomic<std::uint8_t>> cells_;
};

// Counts different keys, up to the required number of occurrences.
class KeyTable {
 public:
  KeyTable(std::size_t n_slots, std::uint32_t min_count)
      : enough_(min_count),
        shift_(64 - static_cast<unsigned>(std::bit_width(std::bit_ceil(n_slots) - 1))),
        slots_(std::bit_ceil(n_slots)) {}
  static constexpr std::size_t kSlotBytes = 16;

  void prefetch(std::uint64_t key) const { __builtin_prefetch(&slots_[place(key)], 1); }
  // Returns false if the table is nearly full.
  bool add(std::uint64_t key) {
    std::size_t at = place(key);
    for (std::size_t probe = 0; probe < kProbes; ++probe, at = (at + 1) & (slots_.size() - 1)) {
      Slot& slot = slots_[at];
      std::uint64_t there = slot.key.load(std::memory_order_relaxed);
      if (there == kFree && slot.key.compare_exchange_strong(there, key, std::memory_order_relaxed)) there = key;
      if (there != key) continue;
      std::uint32_t count = slot.count.load(std::memory_order_relaxed);
      while (count < enough_ && !slot.count.compare_exchange_weak(count, count + 1, std::memory_order_relaxed)) {
      }
      return true;
    }
    return false;
  }
  template <class Use>
  void each_frequent(const Use& use) const {
    for (const Slot& slot : slots_)
      if (slot.count.load(std::memory_order_relaxed) >= enough_) use(slot.key.load(std::memory_order_relaxed));
  }

 private:
  struct Slot {
    std::atomic<std::uint64_t> key{kFree};
    std::atomic<std::uint32_t> count{0};
  };
  static_assert(sizeof(Slot) == kSlotBytes);
  static constexpr std::uint64_t kFree = 0;  // keys are hashes: 0 does not occur
  static constexpr std::size_t kProbes = 512;

  // Uses other bits than the sieve, since many keys here share those.
  std::size_t place(std::uint64_t key) const { return static_cast<std::size_t>((key * 0x9e3779b97f4a7c15ULL) >> shift_); }

  std::uint32_t enough_;
  unsigned shift_;
  std::vector<Slot> slots_;
};

// Buffers keys until their memory has been prefetched: prefetches with ask(key), then calls use(keys) in batches.
template <class Ask, class Use>
class KeyQueue {
 public:
  KeyQueue(const Ask& ask, const Use& use) : ask_(ask), use_(use) {}
  void push(std::uint64_t key) {
    ask_(key);
    keys_[n_++] = key;
    if (n_ == keys_.size()) flush();
  }
  void flush() {
    use_(std::span(keys_).first(n_));
    n_ = 0;
  }

 private:
  const Ask& ask_;
  const Use& use_;
  std::array<std::uint64_t, 64> keys_;
  std::size_t n_ = 0;
};

// The sorted keys of one round of counting, placed by their next bits.
inline std::vector<std::uint64_t> sorted_keys(const KeyTable& table, unsigned round_bits, unsigned n_threads) {
  constexpr unsigned kBits = 8;
  constexpr std::size_t kParts = std::size_t{1} << kBits;
  std::array<std::vector<std::uint64_t>, kParts> parts;
  table.each_frequent([&](std::uint64_t key) { parts[(key << round_bits) >> (64 - kBits)].push_back(key); });
  parallel_chunks(kParts, 1, n_threads, {},
                  [&](std::size_t p, std::size_t) { std::sort(parts[p].begin(), parts[p].end()); });
  std::vector<std::uint64_t> all;
  for (auto& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

// The keys emitted at least min_count times, sorted. `make_worker()` returns a callable (item, emit) that calls emit(key)
// for each key of an item; each chunk of items has a separate worker. If memory is too small for all keys that may be
// frequent, they are counted in rounds, by their top bits.
template <class MakeWorker>
std::vector<std::uint64_t> count_keys(const KeySource& source, const Counting& options, const Progress& progress,
                                      const MakeWorker& make_worker) {
  constexpr std::size_t kChunks = 64, kKeysPerCell = 4, kSlotsPerKey = 3, kLeast = std::size_t{1} << 12;
  const std::size_t n = source.n_items, half = std::max(options.bytes / 2, kLeast);
  const std::uint32_t min_count = std::max<std::uint32_t>(options.min_count, 1);
  std::size_t n_rounds = 1, passes_done = 0;
  // One pass over all keys.
  const auto pass = [&](const auto& is_wanted, const auto& ask, const auto& use) {
    const Progress report = [&](std::size_t done, std::size_t) {
      return !progress || progress(passes_done * n + done, (1 + n_rounds) * n);
    };
    parallel_chunks(n, n / kChunks + 1, options.n_threads, report, [&](std::size_t begin, std::size_t end) {
      auto worker = make_worker();
      KeyQueue queue(ask, use);
      for (std::size_t i = begin; i < end; ++i)
        worker(i, [&](std::uint64_t key) {
          if (is_wanted(key)) queue.push(key);
        });
      queue.flush();
    });
    ++passes_done;
  };

  KeySieve sieve(std::min(source.n_keys / kKeysPerCell + kLeast, std::bit_floor(half)), min_count);
  const auto ask_sieve = [&](std::uint64_t key) { sieve.prefetch(key); };
  std::atomic<std::size_t> n_candidates = 0;
  pass([](std::uint64_t) { return true; }, ask_sieve,
       [&](std::span<std::uint64_t> keys) {
         std::size_t n_new = 0;
         for (const std::uint64_t key : keys) n_new += sieve.add(key);
         n_candidates.fetch_add(n_new, std::memory_order_relaxed);
       });
  const std::size_t n_slots = std::bit_ceil(kSlotsPerKey * n_candidates + kLeast);
  const std::size_t most_slots = std::min(n_slots, std::bit_floor(half / KeyTable::kSlotBytes));
  for (n_rounds = n_slots / most_slots;; n_rounds *= 2) {
    const auto round_bits = static_cast<unsigned>(std::bit_width(n_rounds) - 1);
    std::vector<std::uint64_t> all;
    std::atomic<bool> full = false;
    passes_done = 1;
    for (std::size_t round = 0; round < n_rounds; ++round) {
      KeyTable table(most_slots, min_count);
      pass([&](std::uint64_t key) { return round_bits == 0 || key >> (64 - round_bits) == round; }, ask_sieve,
           [&](std::span<std::uint64_t> keys) {
             if (full.load(std::memory_order_relaxed)) return;
             std::size_t n_left = 0;
             for (const std::uint64_t key : keys)
               if (sieve.may_be_frequent(key)) {
                 table.prefetch(key);
                 keys[n_left++] = key;
               }
             for (const std::uint64_t key : keys.first(n_left))
               if (!table.add(key)) full.store(true, std::memory_order_relaxed);
           });
      if (full) break;
      const auto keys = sorted_keys(table, round_bits, options.n_threads);
      all.insert(all.end(), keys.begin(), keys.end());
    }
    if (full) continue;  // the keys share more cells of the sieve than expected
    check_number(all.size());
    return all;
  }
}

}  // namespace hyperbaton
