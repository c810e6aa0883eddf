// Batch MIRA on k-best lists (Cherry and Foster 2012, Algorithm 2, with the gain of each candidate given).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/parallel.hh"
#include "tune/nbest.hh"

namespace hyperbaton {

struct MiraOptions {
  std::size_t n_passes;
  double max_step;  // C
  std::uint64_t seed;
};

// Visit the sentences in random order. The hope is the candidate with the highest model score plus gain, the fear the one
// with the highest model score minus gain; w moves just far enough that the hope's margin over the fear is their
// difference in gain, at most by C. Returns, after each pass, the average of w over all visits so far, (n_passes,
// n_features).
std::vector<double> mira(const NBestView& nbest, std::span<const double> gains, std::span<const double> start,
                         const MiraOptions& options, const Progress& progress);

}  // namespace hyperbaton
