// Batch MIRA (tune/mira.hh) for thousands of sparse features.
//
// Candidates are rows of a sparse matrix, columns increasing in each row. Every sum is computed in the order of its
// terms, so the result does not depend on the implementation.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/parallel.hh"

namespace hyperbaton {

struct SparseRows {
  std::span<const double> values;
  std::span<const std::int32_t> columns;
  std::span<const std::int64_t> offsets;  // of rows
  std::size_t n_columns;

  std::size_t n_rows() const { return offsets.size() - 1; }
  // Throws Error unless offsets and columns match, with columns increasing in each row.
  void check() const;
};

struct SparseMiraInput {
  SparseRows rows;                        // of candidates
  std::span<const std::int64_t> lists;    // offsets of the candidates of each sentence
  std::span<const double> gains;          // of candidates
  std::span<const double> start;          // weights
  std::span<const std::uint32_t> orders;  // (n_passes, n_sentences): the sentences of each pass
  double max_step;                        // C

  void check() const;
};

// The average of the weights over all visits so far after each pass, (n_passes, n_columns).
std::vector<double> sparse_mira(const SparseMiraInput& input, const Progress& progress);

}  // namespace hyperbaton
