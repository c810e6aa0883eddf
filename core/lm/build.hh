// Builds the tables of an NgramModel from lists of n-grams.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/errors.hh"
#include "base/parallel.hh"
#include "corpus/vocabulary.hh"
#include "lm/ngram_model.hh"

namespace hyperbaton {

// Values (log10) of a word without a unigram: <unk> of a model that lacks it.
inline constexpr float kMissingLog10 = -100;

// A view of the n-grams of one order: n-gram i is words[i·order .. (i+1)·order), oldest word first. Without back-off
// weights, they are zero. Optional links give, for all n-grams of all orders from 2 on, the numbers in the order below of
// the context (the n-gram without its newest word) and the parent (without its oldest word).
struct NgramColumns {
  std::span<const WordId> words;
  std::span<const float> log10_prob, log10_backoff;
  std::span<const std::uint32_t> context = {}, parent = {};
};

// The arrays of an NgramSlots.
struct NgramArrays {
  std::vector<std::uint8_t> bytes;
  std::size_t stride;
  std::vector<float> prob_bins, backoff_bins;
  NgramSlots view() const {
    return {.bytes = bytes, .stride = stride, .prob_bins = prob_bins, .backoff_bins = backoff_bins};
  }
};

// The n-gram `index` of an order is a duplicate.
struct DuplicateNgram : Error {
  DuplicateNgram(std::size_t order_, std::size_t index_)
      : Error("n-gram " + std::to_string(index_) + " of order " + std::to_string(order_) + " is a duplicate"),
        order(order_),
        index(index_) {}
  std::size_t order, index;
};

// Tables of all orders, without bins. Words are numbers below n_words, of which 0, 1, 2 are <unk>, <s>, </s>. If the
// beginning or end of a longer n-gram is missing from its order, as after pruning, the table gets a blank in its place,
// with the back-off probability.
std::vector<NgramArrays> build_ngram_tables(std::span<const NgramColumns> orders, std::size_t n_words, unsigned n_threads,
                                            const Progress& progress);

}  // namespace hyperbaton
