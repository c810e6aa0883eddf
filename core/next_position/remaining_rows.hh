// log P(NP | CP, visited) along visit orders: the scores of a jump model given the remaining words.
#pragma once

#include <span>
#include <vector>

#include "features/jumps.hh"
#include "phrases/remaining.hh"

namespace hyperbaton {

// Where the rows of each sentence start, and their total number of values: a row of n + 1 values for BOS and for each
// visited word.
std::vector<std::int64_t> remaining_starts(std::span<const std::int64_t> offsets, const VisitsView& visits);

// Fill rows, sentence by sentence in visit order: the NPs 0 … n (n is EOS) of a CP, −∞ for visited ones. `scores` has the
// layout of jump_logprobs; adding a constant to one of its rows changes nothing. `classes` has a weight for each class of
// candidates, or is empty.
void remaining_rows(std::span<const std::int64_t> offsets, const VisitsView& visits, std::span<const double> scores,
                    std::span<const double> classes, std::span<double> rows, unsigned n_threads);

}  // namespace hyperbaton
