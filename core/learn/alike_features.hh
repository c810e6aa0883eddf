// Features that occur in the same rows are merged: a learner that uses only inner products of rows and regularises
// squared weights gives all of them the same weight.
//
// With k such features, w Σ_f x_f = k w for a row that has them, and they cost k w². One feature of value √k and weight u
// = √k w has the same score and the same cost. The rows of one source phrase have two to four times as many features as
// there are distinct ones.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/hash.hh"
#include "base/size.hh"
#include "learn/rows.hh"

namespace hyperbaton {

class AlikeFeatures {
 public:
  // Find the features with identical rows, for rows without values. A row's features increase; all are below n_features,
  // and each occurs.
  void find(std::span<const std::int64_t> starts, std::span<const FeatureId> indices, std::size_t n_features) {
    // Features with the same sum over the hashes of their rows have the same rows, except for hash collisions.
    sums_.assign(n_features, {0, 0});
    for (std::size_t f = 0; f < n_features; ++f) sums_[f].second = static_cast<FeatureId>(f);
    for (std::size_t i = 0; i + 1 < starts.size(); ++i) {
      const std::uint64_t hash = mix(i + 1);
      for (auto j = starts[i]; j < starts[i + 1]; ++j) {
        const auto feature = to_size(indices[to_size(j)]);
        sums_[feature].first += hash;
      }
    }
    std::ranges::sort(sums_);
    // Groups are numbered by their first features, so the groups of a row increase.
    firsts_.resize(n_features);
    for (std::size_t s = 0, first = 0; s < n_features; ++s) {
      if (sums_[s].first != sums_[first].first) first = s;
      firsts_[to_size(sums_[s].second)] = sums_[first].second;
    }
    groups_.resize(n_features);
    roots_.clear();
    for (std::size_t f = 0; f < n_features; ++f) {
      const auto first = to_size(firsts_[f]);
      groups_[f] = first == f ? static_cast<FeatureId>(roots_.size()) : groups_[first];
      if (first == f) roots_.push_back(0);
      ++roots_[to_size(groups_[f])];
    }
    for (double& root : roots_) root = std::sqrt(root);
  }

  std::size_t n_groups() const { return roots_.size(); }
  bool any() const { return n_groups() < groups_.size(); }

  // Replace features by groups in the rows from which they were found, with the square roots of their sizes as values.
  void merge(std::vector<std::int64_t>& starts, std::vector<FeatureId>& indices, std::vector<double>& values) const {
    values.clear();
    std::size_t from = 0;
    for (std::size_t i = 1; i < starts.size(); ++i) {
      for (const auto end = to_size(starts[i]); from < end; ++from) {
        const auto feature = to_size(indices[from]);
        if (firsts_[feature] != indices[from]) continue;
        indices[values.size()] = groups_[feature];
        values.push_back(roots_[to_size(groups_[feature])]);
      }
      starts[i] = static_cast<std::int64_t>(values.size());
    }
    indices.resize(values.size());
  }

  // The weights of the features from those of the groups; the weight of the constant follows.
  std::vector<double> split(std::span<const double> weights, std::size_t n_classes) const {
    std::vector<double> split;
    split.reserve(groups_.size() * n_classes + weights.size() - n_groups() * n_classes);
    for (const FeatureId group : groups_) {
      const auto g = to_size(group);
      for (std::size_t k = 0; k < n_classes; ++k) split.push_back(weights[g * n_classes + k] / roots_[g]);
    }
    const auto rest = weights.subspan(n_groups() * n_classes);
    split.insert(split.end(), rest.begin(), rest.end());
    return split;
  }

 private:
  std::vector<FeatureId> groups_, firsts_;                 // by feature: its group, and the first feature of that
  std::vector<double> roots_;                              // by group: the root of its size
  std::vector<std::pair<std::uint64_t, FeatureId>> sums_;  // of hashes
};

}  // namespace hyperbaton
