// Many independent sub-models at once: one for each cluster of rows, over only the features that occur in it.
#pragma once

#include "base/size.hh"
#include "learn/trainer.hh"

namespace hyperbaton {

// Cluster c has the features ids[offsets[c]] … ids[offsets[c + 1] - 1], increasing; the constant's id is n_features.
struct ClusterWeights {
  std::vector<std::int64_t> offsets;
  std::vector<FeatureId> features;
  std::vector<float> weights;     // (features, classes); by far the largest array, so 32-bit
  std::vector<double> objective;  // last value of each cluster's objective; NaN for a cluster without rows
};

struct ClusterView {
  std::span<const std::int64_t> offsets;
  std::span<const FeatureId> features;
  std::span<const float> weights;
};

// Rows grouped by cluster, in their original order within each; rows with a negative cluster are dropped.
struct RowGroups {
  std::vector<std::int64_t> starts;  // rows of cluster c: rows[starts[c]] … rows[starts[c + 1] - 1]
  LargeArray<std::uint32_t> rows;
};
// `Cluster` is a signed integer of 32 or 64 bits.
template <class Cluster>
RowGroups group_rows(std::span<const Cluster> clusters, std::size_t n_clusters, const Room& room) {
  RowGroups groups{std::vector<std::int64_t>(n_clusters + 1, 0), {}};
  for (const Cluster c : clusters)
    if (c >= 0) ++groups.starts[to_size(c)];
  groups.rows = LargeArray<std::uint32_t>(to_size(exclusive_sum(groups.starts)), room);
  std::vector<std::int64_t> next = groups.starts;
  for (std::size_t i = 0; i < clusters.size(); ++i)
    if (clusters[i] >= 0) groups.rows[to_size(next[to_size(clusters[i])]++)] = static_cast<std::uint32_t>(i);
  return groups;
}

// Rows whose cluster is negative are left out. Each cluster has its own seed, derived from its number among all clusters.
// Features of a cluster that occur in the same rows are learned as one if `merge_features` says that the trainer gives
// them the same weight (alike_features.hh). With validation rows, each cluster uses its own, restricted to its features;
// `validation_clusters` has one number for each of them.
ClusterWeights fit_clusters(const Trainer& trainer, const Problem& problem, std::span<const std::int64_t> clusters,
                            std::size_t n_clusters, std::size_t first_cluster, bool merge_features,
                            std::span<const std::int64_t> validation_clusters);

// Scores of rows under their clusters' weights, (rows, classes); zero for a negative cluster.
std::vector<double> score_clusters(const Rows& rows, std::span<const std::int64_t> clusters, const ClusterView& model,
                                   std::size_t n_classes, unsigned n_threads, const Progress& progress);

}  // namespace hyperbaton
