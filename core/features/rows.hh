// Converts phrase pairs in context to sparse rows over a feature space.
//
// The sorted keys of features are a feature space (training_features.hh fixes it): a feature's number is the rank of its
// key. Nothing depends on the number of threads.
#pragma once

#include <functional>

#include "features/keys.hh"
#include "features/templates.hh"

namespace hyperbaton {

struct FeatureRows {
  std::vector<std::int64_t> starts;
  std::vector<std::int32_t> indices;  // increasing inside a row
};

// The features of each occurrence; features that are not among the keys are dropped.
FeatureRows feature_rows(std::span<const Template> templates, const Occurrences& where, const KeyIndex& index,
                         unsigned n_threads);

// A range of consecutive rows to fill: entries are appended, and row lengths set.
struct RowsPart {
  std::vector<std::int32_t>& indices;
  std::span<std::int64_t> lengths;
};
using MakeRows = std::function<void(std::size_t first_row, RowsPart part)>;

// Rows that are computed part by part, on several threads.
FeatureRows joined_rows(std::size_t n_rows, unsigned n_threads, const Progress& progress, const MakeRows& make);

}  // namespace hyperbaton
