// Expected n-gram matches of translations with a distribution over translations (consensus decoding).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/parallel.hh"
#include "metrics/edit_distance.hh"

namespace hyperbaton {

// The candidates of list l are those from lists[l] to lists[l + 1]. For each candidate and each n from 1 to max_order, the
// n-grams that it shares with another candidate of its list, with clipped counts, averaged over the others and itself by
// their probabilities: Σ_b p(b) Σ_g min(count_a(g), count_b(g)). Rows of max_order values. An n-gram shared by k candidates
// is visited k times, not k² times: Σ_b p(b) min(c, count_b) is the sum for i from 1 to c of the probability of at least i.
std::vector<double> expected_matches(const WordsView& candidates, std::span<const std::int64_t> lists,
                                     std::span<const double> probabilities, std::size_t max_order, unsigned n_threads,
                                     const Progress& progress);

}  // namespace hyperbaton
