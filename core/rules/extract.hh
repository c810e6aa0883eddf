// Hierarchical rules of an aligned bitext, with Moses' fractional counts.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "align/links.hh"
#include "base/parallel.hh"
#include "rules/hash_set.hh"
#include "rules/rule_runs.hh"
#include "rules/sentence_rules.hh"

namespace hyperbaton {

struct AlignedText {
  TokensView source, target;
  LinksView links;
};

// The source sides of rules that match a sentence of a text whose words have the rules' numbers, or kUnknownWord. A rule
// matches if its words occur in a sentence in this order, adjacent unless a gap is between them, with at least one word
// for each gap, within `max_span` words.
HashSet matching_sources(TokensView text, const RuleLimits& limits, int max_span, WordId gap, unsigned n_threads,
                         const Progress& progress);

// The target sides, disregarding the order of their gaps, of all rules of some sentence pairs whose source sides are in a
// set.
struct SentenceRange {
  std::size_t first, last;
};
HashSet targets_of_sources(const AlignedText& text, SentenceRange range, const RuleLimits& limits, GapSymbols gaps,
                           const HashSet& sources, unsigned n_threads, const Progress& progress);

// A hash of a target side with unordered gaps: Moses counts target sides as if their gaps had no order.
std::uint64_t hash_target(std::span<const WordId> target, GapSymbols gaps);

// The rules of sentence pairs [bounds[k], bounds[k + 1]) as run k; only those with target sides in the set, if one is
// given.
std::vector<Bytes> extract_rules(const AlignedText& text, std::span<const std::int64_t> bounds, const RuleLimits& limits,
                                 const RuleSymbols& symbols, const HashSet* targets, unsigned n_threads,
                                 const Progress& progress);

}  // namespace hyperbaton
