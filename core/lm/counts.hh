// How often n-grams are seen, and in how many ways they continue to the left: the counts of Kneser-Ney smoothing.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "corpus/text.hh"
#include "lm/ngram_rows.hh"

namespace hyperbaton {

// The n-grams of the highest order in the sentences [begin, end), one ending in each word and in </s>, padded with <s> in
// front: distinct rows by suffix. Tokens are words of the model.
std::vector<std::uint32_t> count_ngrams(const TokensView& text, std::size_t begin, std::size_t end, std::size_t order,
                                        unsigned n_threads, const Progress& progress);

// How many n-grams of each order lie in those of the highest, merged over the whole text. An n-gram whose oldest word is
// <s> has nothing to its left, so padded rows are n-grams of lower orders.
std::vector<std::size_t> count_orders(std::span<const std::uint32_t> full, std::size_t order);

// Of one order: how many n-grams have an adjusted count of 1, 2, 3 and 4.
using CountOfCounts = std::array<std::uint64_t, 4>;

// Fill the rows of each order, by suffix, whose sizes count_orders gave. The adjusted count is how often the n-gram was
// seen, for the highest order and for n-grams that begin with <s>, otherwise how many different words were seen before it.
// An n-gram seen no more than thresholds[order - 1] times is marked as pruned; it counts all the same. <unk> and <s> are
// there with a count of zero if the text lacks them.
std::vector<CountOfCounts> adjust_counts(std::span<const std::uint32_t> full, std::span<const std::uint64_t> thresholds,
                                         std::span<const std::span<std::uint32_t>> orders);

}  // namespace hyperbaton
