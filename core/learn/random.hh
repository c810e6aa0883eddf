// Random numbers that are identical on every machine, and random orders of rows.
#pragma once

#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "base/hash.hh"
#include "learn/rows.hh"

namespace hyperbaton {

class Random {
 public:
  explicit Random(std::uint64_t seed) : seed_(seed) {}

  std::uint64_t next() { return combine(seed_, n_++); }
  // Uniform in 0 … n - 1, for n below 2^32.
  std::uint64_t below(std::uint64_t n) { return ((next() >> 32) * n) >> 32; }

  template <class T>
  void shuffle(std::span<T> items) {
    for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[below(i)]);
  }
  // Skip ahead as if n items had been shuffled.
  void skip_shuffle(std::size_t n_items) { n_ += n_items > 1 ? n_items - 1 : 0; }

 private:
  std::uint64_t seed_;
  std::uint64_t n_ = 0;
};

// Shuffle row numbers that are grouped by shard: first the order of the shards, then the rows within each, so that
// memory-mapped shards are read one after the other. `ids` must be grouped by shard, in any order within; it stays
// grouped.
inline void shuffle_rows(const Rows& rows, Random& random, std::vector<std::uint32_t>& ids) {
  if (rows.n_shards() <= 1) return random.shuffle(std::span(ids));
  std::vector<std::vector<std::uint32_t>> groups;
  std::size_t current = rows.n_shards();
  for (const std::uint32_t id : ids) {
    if (current == rows.n_shards() || id < rows.begin(current) || id >= rows.begin(current + 1)) {
      current = 0;
      while (id >= rows.begin(current + 1)) ++current;
      groups.emplace_back();
    }
    groups.back().push_back(id);
  }
  random.shuffle(std::span(groups));
  std::size_t at = 0;
  for (auto& group : groups) {
    random.shuffle(std::span(group));
    for (const std::uint32_t id : group) ids[at++] = id;
  }
}

// Prefetch the rows that follow soon after index t of a random order. `per_row` is another array that a visit needs, with
// `width` values for each row.
template <class Label>
void prefetch_visits(const Rows& rows, std::span<const Label> labels, std::span<const std::uint32_t> order, std::size_t t,
                     const double* per_row, std::size_t width) {
  constexpr std::size_t kFar = 16, kNear = 6;
  if (t + kFar < order.size()) {
    const std::size_t i = order[t + kFar];
    rows.prefetch_place(i);
    __builtin_prefetch(&labels[i]);
    if (per_row != nullptr) __builtin_prefetch(per_row + i * width);
  }
  if (t + kNear < order.size()) rows.prefetch_entries(order[t + kNear]);
}

inline std::vector<std::uint32_t> all_rows(const Rows& rows) {
  std::vector<std::uint32_t> ids(rows.size());
  std::iota(ids.begin(), ids.end(), 0u);
  return ids;
}

}  // namespace hyperbaton
