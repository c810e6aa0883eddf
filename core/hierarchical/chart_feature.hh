// Features of derivations, besides the language models: the counterpart of decode/feature.hh for charts.
//
// A rule is scored over the hypotheses in its gaps. A chart is built bottom up, so a feature knows neither what is
// translated before a rule nor the coverage: it keeps what an enclosing rule needs to know of a hypothesis, such as its
// first and last source word, in its own words of the hypothesis' state.
//
// A kind of feature is one class. It scores all features of the kind together, for one sentence, and has as Input the
// input of a kind of decode/features.hh, so that Python makes one object for both searches.
// hierarchical/chart_features.hh lists the kinds.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <span>
#include <string>

#include "hierarchical/rule_blocks.hh"
#include "rules/rule_symbols.hh"

namespace hyperbaton {

// A rule over hypotheses.
struct AppliedRule {
  const RuleOptions& options;
  std::uint32_t option;  // its number
  int n_words;           // of its source side, without gaps
  // Of each symbol of its source side, for gaps that of the first word; and the end of the span.
  std::span<const std::uint16_t> positions;
  std::array<SourceSpan, kMaxGaps> gap_spans{};
  std::array<const std::uint32_t*, kMaxGaps> gaps{};  // the feature's words of the states of hypotheses, by gap
  // If orientations are scored: its parts, and the blocks of the sentence.
  std::span<const RulePart> parts{};
  const SentenceBlocks* blocks = nullptr;
};

// Functions of a kind: `check` throws if a feature, the first one of its kind being `first`, cannot be used with these
// sentences; `combine` adds the weighted score of a rule, fills in the state, and adds unweighted values to the columns of
// the kind, n_values() for each feature, if they are asked for.
template <class F>
concept ChartFeature = std::constructible_from<F, std::span<const typename F::Input>, std::size_t, int> &&
                       requires(F feature, const typename F::Input& input, std::span<const std::int64_t> source_offsets,
                                const AppliedRule& rule, std::uint32_t* state, double& score, float* values) {
                         { input.n_values() } -> std::convertible_to<std::size_t>;
                         { feature.n_state() } -> std::convertible_to<std::size_t>;
                         F::check(std::string(), input, input, source_offsets);
                         feature.combine(rule, state, score, values);
                       };

}  // namespace hyperbaton
