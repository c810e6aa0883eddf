// The best probability of composing a phrase pair from shorter ones (Ling et al. 2012, Zens et al. 2012).
#pragma once

#include <span>
#include <vector>

#include "base/parallel.hh"
#include "phrases/score.hh"

namespace hyperbaton {

// For each pair, the largest sum of `logprobs` over the ways to split it recursively into two or more pairs of the table,
// side by side or swapped; minus infinity if there is none.
std::vector<double> composed_logprobs(const PairsView& pairs, std::span<const double> logprobs, unsigned n_threads,
                                      const Progress& progress);

}  // namespace hyperbaton
