// Input of hierarchical translation: a rule table, the sentences, and the scoring models.
//
// A rule is a pair of a phrase table whose sides may contain gaps (Chiang 2007). The glue rules are fixed: S → <s>, S → S
// X, S → S </s>; the second has a separate feature.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "decode/features/jump.hh"
#include "decode/limits.hh"
#include "decode/nbest.hh"
#include "decode/options.hh"
#include "hierarchical/rule_trie.hh"
#include "rules/rule_symbols.hh"

namespace hyperbaton {

inline constexpr std::string_view kGlueFeature = "TranslationModel1";
inline constexpr float kGlueValue = 0.999896315728952F;  // log 2.718, the score in Moses' glue grammar

struct Grammar {
  PairsView table;
  std::span<const float> scores;  // n_scores probabilities for each rule
  std::size_t n_scores;
  std::size_t n_target_words;
  WordId source_gap;                  // the source word that marks a gap
  std::array<WordId, kMaxGaps> gaps;  // the target words that mark gaps, in source order
  RuleTrie trie;
};

struct ChartInput {
  template <class T>
  struct Named {
    std::string name;
    T input;
  };

  const Grammar& grammar;
  TokensView source;               // numbers in the table's source vocabulary, kUnknownWord if not in it
  std::span<const WordId> copies;  // for each token, the target word used when it is passed through
  std::vector<Named<WeightedLm>> lms;
  std::vector<Named<JumpScorer>> jumps;
  std::span<const float> weights;  // of the table's scores, the rule's own features and the glue rule
  Demands demands;
  std::span<const Wall> walls;
  std::span<const Zone> zones;
  ForcedView forced;

  // Number of a rule's own values: scores of the table, own features, glue.
  std::size_t n_own() const { return grammar.n_scores + kOwnFeatures + 1; }
  // Columns of values: language models, jumps, then the rule's.
  std::size_t first_own() const { return lms.size() + jumps.size(); }
  std::size_t n_values() const { return first_own() + n_own(); }
  std::vector<std::string> column_names() const;
};

struct ChartSettings {
  LookupSettings lookup;  // its table limit applies to rules with the same source side
  std::size_t pop_limit;  // largest number of hypotheses made for a span
  Beam beam;              // hypotheses kept for a span
  int max_span;           // most words covered by a rule other than glue; 0 means no limit
  NBestSettings n_best;
  bool graph;
};

}  // namespace hyperbaton
