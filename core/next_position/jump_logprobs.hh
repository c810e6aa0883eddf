// log P(NP | CP) of all jumps of many sentences: the scores that a decoder needs from PAIR and SEQUENCE.
#pragma once

#include <span>
#include <vector>

#include "features/jumps.hh"

namespace hyperbaton {

// Where the (n + 1)² values of each sentence start, and their total number.
std::vector<std::int64_t> jump_starts(std::span<const std::int64_t> offsets);

// Fill logprobs: for each sentence a matrix of rows CP −1 … n − 1 (row 0 is BOS) and columns NP 0 … n (column n is EOS);
// −∞ if NP = CP. Weights have `planes` values (1: PAIR, 3: SEQUENCE) for each constant and each key, `double` or `Half`.
template <class Value>
void jump_logprobs(const TaggedText& text, const JumpFeatures& features, std::span<const Value> weights, std::size_t planes,
                   std::span<double> logprobs, unsigned n_threads, const Progress& progress);

}  // namespace hyperbaton
