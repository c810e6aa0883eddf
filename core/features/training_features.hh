// The features of training data: counted and numbered without hashing each feature of each phrase pair.
//
// Phrase pairs overlap, so the same words are visited many times. Every n-gram of a text and every pair of linked words
// first gets a number, which takes one hash look-up for each position of the text. A feature of a phrase pair is then a
// *slot*: the first slot of its name and length plus the number of the n-gram found there. Slots are counted in a plain
// array. Slots with enough phrase pairs become features; a feature's number is the rank of its key (templates.hh), as in
// feature_rows (rows.hh), which finds features of other texts by their keys.
#pragma once

#include <memory>

#include "base/large_array.hh"
#include "features/rows.hh"
#include "features/templates.hh"

namespace hyperbaton {

// The features: key, name and words of each, in the order of the keys.
struct FeatureSpace {
  LargeArray<std::uint64_t> keys;
  LargeArray<std::int32_t> names;
  LargeArray<std::uint8_t> lengths;
  LargeArray<WordId> words;  // kMaxWords for each feature, padded with 0
};

class TrainingFeatures {
 public:
  // Keeps the features of at least `min_count` occurrences. Templates and `where` must have been checked; `where` is used
  // again by `rows`. Arrays that grow with the text or the number of features are allocated by `room`. Throws Error if
  // templates of one name differ in layer or kind.
  TrainingFeatures(std::span<const Template> templates, const Occurrences& where, std::uint32_t min_count,
                   unsigned n_threads, const Progress& progress, const Room& room);
  ~TrainingFeatures();
  TrainingFeatures(const TrainingFeatures&) = delete;
  TrainingFeatures& operator=(const TrainingFeatures&) = delete;

  // May be moved out: `rows` does not need it.
  FeatureSpace space;

  // The features of some occurrences, in this order.
  FeatureRows rows(std::span<const std::uint32_t> occurrences, unsigned n_threads, const Progress& progress) const;

 private:
  class Slots;
  std::unique_ptr<Slots> slots_;
  std::size_t n_occurrences_;
  LargeArray<std::int32_t> numbers_;  // of the feature of each slot; -1: none
  bool repeats_;                      // whether an occurrence can have a feature twice
};

}  // namespace hyperbaton
