// Rows for many visits in a random order.
#pragma once

#include <cstdint>
#include <vector>

#include "base/size.hh"
#include "learn/rows.hh"

namespace hyperbaton {

// Rows with at most this many entries are copied: about 16 MiB.
inline constexpr std::size_t kCopiedEntries = std::size_t{1} << 22;

// Rows for many visits: if they are few enough, a copy whose features are numbered by decreasing frequency, so that the
// weights of frequent ones are adjacent, and whose scales are computed once. A copied row without values is padded to a
// multiple of kTogether with a feature that no row has, because the loop's end would otherwise be as hard to predict as
// the row's length.
class VisitedRows {
 public:
  static constexpr std::size_t kTogether = 4;

  // `filler` is the number of a feature that no row has.
  VisitedRows(const Rows& rows, const std::vector<FeatureId>& numbers, FeatureId filler) : rows_(rows) {
    if (numbers.empty()) return;
    values_ = rows.shard(0).values;
    is_filled_ = values_ == nullptr;
    indices_.reserve(rows.n_entries() + (is_filled_ ? (kTogether - 1) * rows.size() : 0));
    places_.reserve(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const Row row = rows[i];
      constant_ = row.constant;
      places_.push_back(
          {static_cast<std::uint32_t>(indices_.size()), static_cast<std::uint32_t>(row.features.size()), row.scale});
      for (const FeatureId feature : row.features) indices_.push_back(numbers[to_size(feature)]);
      while (is_filled_ && indices_.size() % kTogether != 0) indices_.push_back(filler);
    }
  }

  // Whether the features of a row are followed by padding.
  bool is_filled() const { return is_filled_; }
  Row operator[](std::size_t i) const {
    if (places_.empty()) return rows_[i];
    const Place& place = places_[i];
    return {{indices_.data() + place.begin, place.size},
            values_ == nullptr ? nullptr : values_ + place.begin,
            place.scale,
            constant_};
  }
  void prefetch(std::size_t i) const {
    if (places_.empty()) return rows_.prefetch_entries(i);
    __builtin_prefetch(&indices_[places_[i].begin]);
  }
  // The data that `prefetch` itself reads.
  void prefetch_place(std::size_t i) const {
    if (places_.empty()) return rows_.prefetch_place(i);
    __builtin_prefetch(&places_[i]);
  }

 private:
  struct Place {
    std::uint32_t begin, size;  // in the copied indices
    double scale;
  };

  const Rows& rows_;
  std::vector<Place> places_;  // empty: not copied
  std::vector<FeatureId> indices_;
  bool is_filled_ = false;
  const double* values_ = nullptr;
  FeatureId constant_ = kNoConstant;
};

// The rank of each feature by decreasing frequency.
inline std::vector<FeatureId> frequency_ranks(const Rows& rows) {
  std::vector<std::uint32_t> counts(rows.n_features(), 0), next(rows.size() + 1, 0);
  for (const FeatureId feature : rows.shard(0).indices) ++counts[to_size(feature)];
  for (std::uint32_t& count : counts) ++next[count = static_cast<std::uint32_t>(rows.size()) - count];
  exclusive_sum(next);
  std::vector<FeatureId> ranks(counts.size());
  for (std::size_t f = 0; f < counts.size(); ++f) ranks[f] = static_cast<FeatureId>(next[counts[f]]++);
  return ranks;
}

inline bool is_copied(const Rows& rows) {
  return rows.n_shards() == 1 && rows.shard(0).starts.front() == 0 && rows.n_entries() <= kCopiedEntries &&
         rows.shard(0).indices.size() == rows.n_entries();
}

}  // namespace hyperbaton
