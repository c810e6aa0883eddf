// Sparse examples: borrowed arrays in compressed rows, in one or more shards.
//
// Nothing is copied, so a shard may be a memory-mapped file larger than memory. Feature ids of a row strictly increase; a
// shard without values has all ones. A row can be scaled to unit length, and can have one more feature that always fires
// with value 1 (the constant), whose id follows all others.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/size.hh"

namespace hyperbaton {

using FeatureId = std::int32_t;
inline constexpr FeatureId kNoConstant = -1;

// One example.
struct Row {
  std::span<const FeatureId> features;
  const double* values;  // null: all ones
  double scale;          // multiplies every value but the constant's
  FeatureId constant;    // id of the feature that always fires, or kNoConstant

  template <class Visit>
  void visit(const Visit& at) const {
    if (values != nullptr) {
      for (std::size_t j = 0; j < features.size(); ++j) at(features[j], scale * values[j]);
    } else {
      for (const FeatureId feature : features) at(feature, scale);
    }
    if (constant != kNoConstant) at(constant, 1.0);
  }
};

struct RowOptions {
  bool constant;     // add the feature that always fires
  bool unit_length;  // scale the other values of each row to Euclidean length 1
};

// Arrays of consecutive rows: features of row i are indices[starts[i]] … indices[starts[i + 1] - 1].
struct Shard {
  std::span<const std::int64_t> starts;  // one more than rows
  std::span<const FeatureId> indices;
  const double* values;  // null: all ones

  std::size_t size() const { return starts.size() - 1; }
};

class Rows {
 public:
  Rows(std::size_t n_features, const RowOptions& options);

  // Throws Error naming the row if offsets, ids or values are invalid; checks every entry.
  void add(const Shard& shard);
  // Add a shard that is known to be valid.
  void add_trusted(const Shard& shard);

  std::size_t size() const { return begins_.back(); }
  std::size_t n_features() const { return n_features_; }
  // Number of features including the constant: the number of rows of a weight matrix.
  std::size_t width() const { return n_features_ + (options_.constant ? 1 : 0); }
  std::size_t n_entries() const { return n_entries_; }
  const RowOptions& options() const { return options_; }

  std::size_t n_shards() const { return shards_.size(); }
  const Shard& shard(std::size_t s) const { return shards_[s]; }
  // First row of a shard; for n_shards(), the number of rows.
  std::size_t begin(std::size_t s) const { return begins_[s]; }

  Row operator[](std::size_t i) const {
    const std::size_t s = shard_of(i);
    return row(shards_[s], i - begins_[s]);
  }

  // Features and values of a row, without the parts of a Row that take time to compute.
  struct Entries {
    std::span<const FeatureId> features;
    const double* values;  // null: all ones
  };
  Entries entries(std::size_t i) const {
    const std::size_t s = shard_of(i);
    return entries(shards_[s], i - begins_[s]);
  }

  // Prefetch a row's location and later its entries: otherwise visits in random order wait for memory.
  void prefetch_place(std::size_t i) const {
    const std::size_t s = shard_of(i);
    __builtin_prefetch(&shards_[s].starts[i - begins_[s]]);
  }
  void prefetch_entries(std::size_t i) const {
    const std::size_t s = shard_of(i);
    const std::size_t from = to_size(shards_[s].starts[i - begins_[s]]);
    __builtin_prefetch(shards_[s].indices.data() + from);
    if (shards_[s].values != nullptr) __builtin_prefetch(shards_[s].values + from);
  }

 private:
  std::size_t shard_of(std::size_t i) const {
    if (shards_.size() == 1) return 0;
    return to_size(std::upper_bound(begins_.begin(), begins_.end(), i) - begins_.begin()) - 1;
  }
  static Entries entries(const Shard& shard, std::size_t i) {
    const std::size_t from = to_size(shard.starts[i]), to = to_size(shard.starts[i + 1]);
    return {shard.indices.subspan(from, to - from), shard.values == nullptr ? nullptr : shard.values + from};
  }
  Row row(const Shard& shard, std::size_t i) const {
    const auto [features, values] = entries(shard, i);
    Row row{features, values, 1.0, options_.constant ? static_cast<FeatureId>(n_features_) : kNoConstant};
    if (options_.unit_length) row.scale = unit_scale(row);
    return row;
  }
  static double unit_scale(const Row& row) {
    double sum = 0;
    if (row.values == nullptr) {
      sum = static_cast<double>(row.features.size());
    } else {
      for (std::size_t j = 0; j < row.features.size(); ++j) sum += row.values[j] * row.values[j];
    }
    return sum > 0 ? 1 / std::sqrt(sum) : 1.0;
  }

  std::size_t n_features_;
  RowOptions options_;
  std::size_t n_entries_ = 0;
  std::vector<Shard> shards_;
  std::vector<std::size_t> begins_{0};
};

inline double squared_norm(const Row& row) {
  if (row.values == nullptr)
    return row.scale * row.scale * static_cast<double>(row.features.size()) + (row.constant != kNoConstant ? 1 : 0);
  double sum = 0;
  row.visit([&](FeatureId, double value) { sum += value * value; });
  return sum;
}

namespace detail {
// The number of classes as a constant lets the compiler unroll the inner loop, which doubles the speed.
template <std::size_t K>
void score_fixed(const Row& row, const double* weights, double* scores) {
  double sums[K] = {};
  row.visit([&](FeatureId feature, double value) {
    const double* w = weights + to_size(feature) * K;
    for (std::size_t k = 0; k < K; ++k) sums[k] += value * w[k];
  });
  for (std::size_t k = 0; k < K; ++k) scores[k] = sums[k];
}
template <std::size_t K>
void add_fixed(const Row& row, const double* factors, double* weights) {
  double f[K];
  for (std::size_t k = 0; k < K; ++k) f[k] = factors[k];
  row.visit([&](FeatureId feature, double value) {
    double* w = weights + to_size(feature) * K;
    for (std::size_t k = 0; k < K; ++k) w[k] += value * f[k];
  });
}
}  // namespace detail

// scores[k] = Σ_f row[f] · weights[f, k]; weights have the shape (width, scores.size()).
inline void score_row(const Row& row, const double* weights, std::span<double> scores) {
  switch (scores.size()) {
    case 1:
      return detail::score_fixed<1>(row, weights, scores.data());
    case 2:
      return detail::score_fixed<2>(row, weights, scores.data());
    case 3:
      return detail::score_fixed<3>(row, weights, scores.data());
    case 4:
      return detail::score_fixed<4>(row, weights, scores.data());
    case 5:
      return detail::score_fixed<5>(row, weights, scores.data());
    default:
      break;
  }
  for (double& score : scores) score = 0;
  row.visit([&](FeatureId feature, double value) {
    const double* w = weights + to_size(feature) * scores.size();
    for (std::size_t k = 0; k < scores.size(); ++k) scores[k] += value * w[k];
  });
}

// weights[f, k] += row[f] · factors[k].
inline void add_row(const Row& row, std::span<const double> factors, double* weights) {
  switch (factors.size()) {
    case 1:
      return detail::add_fixed<1>(row, factors.data(), weights);
    case 2:
      return detail::add_fixed<2>(row, factors.data(), weights);
    case 3:
      return detail::add_fixed<3>(row, factors.data(), weights);
    case 4:
      return detail::add_fixed<4>(row, factors.data(), weights);
    case 5:
      return detail::add_fixed<5>(row, factors.data(), weights);
    default:
      break;
  }
  row.visit([&](FeatureId feature, double value) {
    double* w = weights + to_size(feature) * factors.size();
    for (std::size_t k = 0; k < factors.size(); ++k) w[k] += value * factors[k];
  });
}

// One class alone: Σ_f row[f] · weights[f, k] in a matrix of n_classes columns, and its update.
inline double score_class(const Row& row, const double* weights, std::size_t n_classes, std::size_t k) {
  double sum = 0;
  row.visit([&](FeatureId f, double value) { sum += value * weights[to_size(f) * n_classes + k]; });
  return sum;
}
inline void add_class(const Row& row, double factor, std::size_t n_classes, std::size_t k, double* weights) {
  row.visit([&](FeatureId f, double value) { weights[to_size(f) * n_classes + k] += value * factor; });
}

}  // namespace hyperbaton
