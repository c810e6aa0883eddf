// Significance of the co-occurrence of two phrases: Fisher's exact test (Johnson et al. 2007).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "align/lexical.hh"
#include "base/parallel.hh"
#include "phrases/score.hh"

namespace hyperbaton {

// The number of sentence pairs in which each source phrase, each target phrase, and both phrases of each pair occur.
struct Occurring {
  std::vector<std::uint32_t> source, target, pairs;
};
Occurring count_occurring(const PairsView& pairs, TokensView source, TokensView target, unsigned n_threads,
                          const Progress& progress);

// -ln of the probability that two independent phrases which occur in `source` and in `target` of n sentence pairs
// co-occur in `both` or more of them:
//
//     p = sum over k >= both of C(source, k) C(n - source, target - k) / C(n, target)
double significance(std::uint64_t both, std::uint64_t source, std::uint64_t target, std::uint64_t n);

}  // namespace hyperbaton
