// What shorter phrase pairs say of a pair: the best probability that it is composed with (Ling et al. 2012, Zens et al.
// 2012).
#pragma once

#include <span>
#include <vector>

#include "base/parallel.hh"
#include "phrases/score.hh"

namespace hyperbaton {

// For each pair the greatest sum of `logprobs` over the ways to cut it into two or more pairs of the table, side by side
// or swapped, again and again; minus infinity where there is none.
std::vector<double> composed_logprobs(const PairsView& pairs, std::span<const double> logprobs, unsigned n_threads,
                                      const Progress& progress);

}  // namespace hyperbaton
