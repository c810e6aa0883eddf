// log P(NP | CP, visited) along visit orders: what a model of jumps says of each step when it knows what is left.
#pragma once

#include <span>
#include <vector>

#include "features/jumps.hh"
#include "phrases/remaining.hh"

namespace hyperbaton {

// Where the rows of each sentence start, and their number of values in all: a row of n + 1 values for BOS and for each word
// that is visited.
std::vector<std::int64_t> remaining_starts(std::span<const std::int64_t> offsets, const VisitsView& visits);

// Fill rows, sentence by sentence in the order of the visits: the NPs 0 … n (n is EOS) of a CP, −∞ where one is visited.
// `scores` has the layout of jump_logprobs; a constant added to one of its rows changes nothing. `classes` has a weight for
// each class of candidates, or is empty.
void remaining_rows(std::span<const std::int64_t> offsets, const VisitsView& visits, std::span<const double> scores,
                    std::span<const double> classes, std::span<double> rows, unsigned n_threads);

}  // namespace hyperbaton
