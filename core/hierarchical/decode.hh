// Translate sentences with a rule table.
#pragma once

#include "hierarchical/search.hh"

namespace hyperbaton {

// A path to a hypothesis of a chart, for the search graph.
struct ChartGraphRow {
  std::int64_t hypothesis;
  SourceSpan span;
  std::int64_t pair;  // a pair of the table, or a special rule
  std::array<std::int64_t, kMaxGaps> children;
  std::vector<WordId> target;  // gaps as their target words
  double score;
};

// Translations as columns, by sentence, best first. The steps of a translation are the rules of its derivation, each
// before those in its gaps, glue rules from left to right. Its last row of values is that of the end of the sentence.
struct ChartDecoded {
  std::vector<std::int64_t> path_offsets{0};  // translations of sentence s are [path_offsets[s], path_offsets[s+1])
  std::vector<double> scores;                 // of each translation
  std::vector<std::int64_t> word_offsets{0};  // of each translation
  std::vector<WordId> words;
  std::vector<std::int64_t> link_offsets{0};  // of each translation
  std::vector<Link> links;                    // by source, then target
  std::vector<std::int64_t> step_offsets{0};  // of each translation
  std::vector<std::uint32_t> step_sentence;   // of each step
  std::vector<std::uint16_t> step_begin, step_end;
  std::vector<std::int64_t> step_pair;
  std::vector<std::int32_t> step_parent;             // the step whose gap it fills, -1 for none
  std::vector<std::int64_t> step_target_offsets{0};  // its target side
  std::vector<WordId> step_target;
  std::vector<std::int64_t> step_link_offsets{0};  // links from words after `begin` to symbols of the target side
  std::vector<Link> step_links;
  std::vector<float> features;  // (steps and one end for each translation, n_values), unweighted
  // Of each translation that is rescored, its phrases: their rows among all of ChartCandidates, the steps that they belong
  // to, and (phrases and one end, values) of the features that rescore, unweighted.
  std::vector<std::int64_t> phrase_offsets{0};
  std::vector<std::int64_t> phrases;
  std::vector<std::int32_t> phrase_steps;
  std::vector<float> phrase_features;
  std::vector<ChartCounts> counts;  // by sentence
  std::vector<std::int64_t> graph_offsets{0};
  std::vector<ChartGraphRow> graph;
};

// For each rule of the table, whether the search can take it: whether it is among the best of its source side, as many as
// the table limit allows. Of the input, the sentences are not used.
std::vector<std::uint8_t> best_rules(const ChartInput& input, const ChartSettings& settings, const Progress& progress);

// The phrase pairs that orientation models see in the derivations of sentences. Of the input, the features are not used.
RuleBlocks find_blocks(const ChartInput& input, const ChartSettings& settings, RuleCache& cache, const Progress& progress);

// Derivations to choose from, and the phrases in them if they will be rescored.
struct ChartCandidates {
  struct OfSentence {
    std::vector<ChartDecoded> paths;  // one translation each, best first
    ChartDecoded rest;                // counts and the search graph
  };
  std::vector<OfSentence> sentences;
  TranslationOptions phrases;
};
ChartCandidates decode_chart(const ChartInput& input, const ChartSettings& settings, RuleCache& cache,
                             const Progress& progress);

ChartDecoded choose_best(ChartCandidates&& candidates, const NBestSettings& settings);

}  // namespace hyperbaton
