// Counts for Kneser-Ney smoothing: frequencies of n-grams and numbers of their left extensions.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "corpus/text.hh"
#include "lm/ngram_rows.hh"

namespace hyperbaton {

// The n-grams of the highest order in the sentences [begin, end), one ending in each word and in </s>, padded with <s> on
// the left: distinct rows by suffix. Tokens are words of the model.
std::vector<std::uint32_t> count_ngrams(const TokensView& text, std::size_t begin, std::size_t end, std::size_t order,
                                        unsigned n_threads, const Progress& progress);

// The number of n-grams of each order contained in those of the highest, merged over the whole text. An n-gram whose
// oldest word is <s> has no left extension, so padded rows are n-grams of lower orders.
std::vector<std::size_t> count_orders(std::span<const std::uint32_t> full, std::size_t order);

// For one order: the number of n-grams with an adjusted count of 1, 2, 3 and 4.
using CountOfCounts = std::array<std::uint64_t, 4>;

// Fill the rows of each order, by suffix; count_orders gives their sizes. The adjusted count is the frequency of the
// n-gram for the highest order and for n-grams that begin with <s>, otherwise the number of different words seen before
// it. An n-gram that occurs no more than thresholds[order - 1] times is marked as pruned, but still counts. <unk> and <s>
// are included with a count of zero if they do not occur in the text.
std::vector<CountOfCounts> adjust_counts(std::span<const std::uint32_t> full, std::span<const std::uint64_t> thresholds,
                                         std::span<const std::span<std::uint32_t>> orders);

}  // namespace hyperbaton
