// How surprising it is that two phrases occur together: Fisher's exact test (Johnson et al. 2007).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "align/lexical.hh"
#include "base/parallel.hh"
#include "phrases/score.hh"

namespace hyperbaton {

// In how many sentence pairs each source phrase, each target phrase, and both phrases of each pair occur.
struct Occurring {
  std::vector<std::uint32_t> source, target, pairs;
};
Occurring count_occurring(const PairsView& pairs, TokensView source, TokensView target, unsigned n_threads,
                          const Progress& progress);

// -ln of the probability that two phrases which occur in `source` and in `target` of n sentence pairs occur in `both` or
// more of them together if they have nothing to do with each other:
//
//     p = sum over k >= both of C(source, k) C(n - source, target - k) / C(n, target)
double significance(std::uint64_t both, std::uint64_t source, std::uint64_t target, std::uint64_t n);

}  // namespace hyperbaton
