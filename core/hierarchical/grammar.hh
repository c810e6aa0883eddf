// Input of hierarchical translation: a rule table, the sentences, and the scoring models.
//
// A rule is a pair of a phrase table whose sides may contain gaps (Chiang 2007). The glue rules are fixed: S → <s>, S → S
// X, S → S </s>; the second has a separate feature.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "decode/features.hh"
#include "decode/limits.hh"
#include "decode/nbest.hh"
#include "decode/options.hh"
#include "hierarchical/chart_features.hh"
#include "hierarchical/rule_trie.hh"
#include "rules/rule_symbols.hh"

namespace hyperbaton {

inline constexpr std::string_view kGlueFeature = "TranslationModel1";
inline constexpr float kGlueValue = 0.999896315728952F;  // log 2.718, the score in Moses' glue grammar

struct Grammar {
  PairsView table;
  PairScores scores;
  std::size_t n_target_words;
  WordId source_gap;                  // the source word that marks a gap
  std::array<WordId, kMaxGaps> gaps;  // the target words that mark gaps, in source order
  RuleTrie trie;
};

struct ChartInput {
  struct NamedLm {
    std::string name;
    WeightedLm input;
  };

  const Grammar& grammar;
  TokensView source;               // numbers in the table's source vocabulary, kUnknownWord if not in it
  std::span<const WordId> copies;  // for each token, the target word used when it is passed through
  std::vector<NamedLm> lms;
  ChartFeatureList features;
  std::span<const float> weights;  // of the table's scores, the rule's own features and the glue rule
  Demands demands;
  std::span<const Wall> walls;
  std::span<const Zone> zones;
  ForcedView forced;
  std::span<const SentenceBlocks> blocks;  // of each sentence, if orientations are scored

  // Number of a rule's own values: scores of the table, own features, glue.
  std::size_t n_own() const { return grammar.scores.n() + kOwnFeatures + 1; }
  // Columns of values: language models, other features, then the rule's.
  std::size_t first_own() const { return lms.size() + features.n_values(); }
  std::size_t n_values() const { return first_own() + n_own(); }
  std::vector<std::string> column_names() const;
  // Add a feature of any kind; throws if it cannot score derivations of these sentences.
  void add(const std::string& name, const FeatureInput& feature);
};

struct ChartSettings {
  LookupSettings lookup;  // its table limit applies to rules with the same source side
  std::size_t pop_limit;  // largest number of hypotheses made for a span
  Beam beam;              // hypotheses kept for a span
  int max_span;           // most words covered by a rule other than glue; 0 means no limit
  NBestSettings n_best;
  std::size_t n_rescored;  // derivations, at least, among which the best will be chosen (rescoring.hh); 0: none will be
  bool graph;
};

}  // namespace hyperbaton
