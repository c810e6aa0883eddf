// From phrase pairs in context to sparse rows: the feature space, and rows over it.
//
// The keys of the features that occur often enough, sorted, are the feature space: a feature's number is the rank of
// its key. Nothing depends on the number of threads.
#pragma once

#include "features/keys.hh"
#include "features/templates.hh"

namespace hyperbaton {

// The sorted keys of all features that at least min_count occurrences have.
std::vector<std::uint64_t> count_features(std::span<const Template> templates, const Occurrences& where,
                                          const Counting& options, const Progress& progress);

struct FeatureRows {
  std::vector<std::int64_t> starts;
  std::vector<std::int32_t> indices;  // increasing inside a row
};

// The features of each occurrence; what is not among the keys is left out.
FeatureRows feature_rows(std::span<const Template> templates, const Occurrences& where, const KeyIndex& index,
                         unsigned n_threads, const Progress& progress);

// The name and words of each feature, as the first occurrence with it has them: what a key stands for.
struct FeatureContents {
  std::vector<std::int32_t> names;  // -1: no occurrence has it
  std::vector<std::uint8_t> lengths;
  std::vector<WordId> words;  // kMaxWords for each feature, padded with 0
};
FeatureContents feature_contents(std::span<const Template> templates, const Occurrences& where, const KeyIndex& index,
                                 const FeatureRows& rows, unsigned n_threads);

}  // namespace hyperbaton
