// From lists of n-grams to the tables of an NgramModel.
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

// What a word has that no unigram names, <unk> of a model without one: log10.
inline constexpr float kMissingLog10 = -100;

// The n-grams of one order that somebody else holds: n-gram i is words[i·order .. (i+1)·order), oldest word first.
// Without back-off weights, they are zero. Who knows where the n-gram without its newest word, its context, and without its
// oldest word, its parent, are in the list of the order below, gives their numbers for all n-grams of all orders from 2 on.
struct NgramColumns {
  std::span<const WordId> words;
  std::span<const float> log10_prob, log10_backoff;
  std::span<const std::uint32_t> context = {}, parent = {};
};

// The arrays behind an NgramSlots.
struct NgramArrays {
  std::vector<std::uint8_t> bytes;
  std::size_t stride;
  std::vector<float> prob_bins, backoff_bins;
  NgramSlots view() const { return {bytes, stride, prob_bins, backoff_bins}; }
};

// The n-gram `index` of an order was there before.
struct DuplicateNgram : Error {
  DuplicateNgram(std::size_t order_, std::size_t index_)
      : Error("n-gram " + std::to_string(index_) + " of order " + std::to_string(order_) + " was there before"),
        order(order_),
        index(index_) {}
  std::size_t order, index;
};

// Tables of all orders, without bins. Words are numbers below n_words, of which 0, 1, 2 are <unk>, <s>, </s>. Where the
// list of an order lacks the beginning or end of a longer n-gram, as after pruning, the table gets a blank in its place,
// with the probability that backing off gives.
std::vector<NgramArrays> build_ngram_tables(std::span<const NgramColumns> orders, std::size_t n_words, unsigned n_threads,
                                            const Progress& progress);

}  // namespace hyperbaton
