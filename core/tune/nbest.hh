// Candidate translations of many sentences, as columns.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/size.hh"

namespace hyperbaton {

// Candidates of sentence s are the rows [offsets[s], offsets[s + 1]). Every sentence has candidates.
struct NBestView {
  std::span<const double> features;  // (n_candidates, n_features)
  std::size_t n_features;
  std::span<const double> statistics;  // (n_candidates, n_statistics), of an additive metric
  std::size_t n_statistics;
  std::span<const std::int64_t> offsets;

  std::size_t n_sentences() const { return offsets.size() - 1; }
  std::size_t n_candidates() const { return to_size(offsets.back()); }
  std::span<const double> features_of(std::size_t c) const { return features.subspan(c * n_features, n_features); }
  std::span<const double> statistics_of(std::size_t c) const { return statistics.subspan(c * n_statistics, n_statistics); }
};

}  // namespace hyperbaton
