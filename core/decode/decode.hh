// Translate sentences.
#pragma once

#include "decode/graph.hh"
#include "decode/nbest.hh"

namespace hyperbaton {

// Translations as columns, by sentence, best first.
struct Decoded {
  std::vector<std::int64_t> path_offsets;  // translations of sentence s are [path_offsets[s], path_offsets[s+1])
  std::vector<std::int64_t> step_offsets;  // steps of translation p are [step_offsets[p], step_offsets[p+1])
  std::vector<std::int64_t> options;       // of each step, in target order
  std::vector<double> scores;              // of each translation
  std::vector<float> features;             // (steps and one end for each translation, n_features), unweighted
  std::size_t n_features;
  std::vector<std::uint8_t> relaxed;        // by sentence: no translation satisfied the limits, so they were lifted
  std::vector<SearchCounts> counts;         // by sentence
  std::vector<std::int64_t> graph_offsets;  // rows of sentence s
  std::vector<GraphRow> graph;              // if requested; options by their rows
};

struct DecodeSettings {
  SearchSettings search;
  NBestSettings n_best;
  bool relax;  // lift all limits on the order if no hypothesis covers a sentence
  bool graph;  // return the search graph
  unsigned n_threads;
};

Decoded decode(const DecodeInput& input, const DecodeSettings& settings, const Progress& progress);

// A sentence for paths that are given: without limits.
Space unlimited(const DecodeInput& input, std::size_t sentence);

// Unweighted values of the last step of each path through a sentence, (n_paths, n_features). A path lists options by
// their rows and need not cover the sentence; limits are ignored.
std::vector<float> last_step_values(const DecodeInput& input, std::size_t sentence,
                                    std::span<const std::vector<std::int64_t>> paths);

// The class of each step of such a path by each feature with classes, (n_steps, n_features); kNoClass for none.
std::vector<std::uint8_t> step_classes(const DecodeInput& input, std::size_t sentence, std::span<const std::int64_t> path);

}  // namespace hyperbaton
