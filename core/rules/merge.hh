// Merges runs of rules and scores them with Moses' numbers.
//
// Moses adds counts as floats in the order of sorted files: once sorted by source, target, links and count, once by
// target, source, links and count. These orders are used here, so that every digit is the same.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/parallel.hh"
#include "rules/hash_set.hh"
#include "rules/rule_runs.hh"

namespace hyperbaton {

// Word probabilities, and the mapping from words of rules to their table; kUnknownWord for gaps.
struct RuleLexicon {
  LexicalTable table;
  std::span<const WordId> source_numbers, target_numbers;
};

// Consecutive source sides with all their rules.
struct RuleBatch {
  Phrases sources;
  std::vector<std::int64_t> offsets;  // rules by source side
  Phrases targets;                    // of each rule
  InnerLinks links;                   // the most frequent ones of each rule
  std::vector<float> source_counts;   // of each source side
  std::vector<float> counts;          // of each rule, as in the file sorted by target
  std::vector<LexicalWeights> weights;
  // Whether a rule follows another one with the same source and target except for the order of gaps, in the order by
  // target.
  std::vector<std::uint8_t> second;
  std::vector<std::uint8_t> kept;  // whether a source side is in the requested set
};

class RuleMerger {
 public:
  // Without `sources` all are kept.
  RuleMerger(std::span<const BytesView> runs, const RuleSymbols& symbols, const HashSet* sources);
  ~RuleMerger();
  // About `n_rules` rules, always with all rules of a source side; none at the end.
  RuleBatch next(std::size_t n_rules, const RuleLexicon& lexicon, unsigned n_threads);
  std::size_t n_read() const;  // bytes of the runs

 private:
  class Runs;
  class Collected;
  std::unique_ptr<Runs> runs_;
  const RuleSymbols& symbols_;
  RuleCodec codec_;
  const HashSet* sources_;
};

// The numbers of phrases in a given order.
std::vector<std::uint32_t> order_phrases(PhrasesView phrases, const ByteOrder& order, unsigned n_threads);

// For each target side, the number of one with the same words and gaps in source order, or its own number if there is
// none. Target sides are in the given order.
std::vector<std::uint32_t> gap_order_ignored(PhrasesView targets, const ByteOrder& order, GapSymbols gaps,
                                             unsigned n_threads);

// The counts of target sides that differ only in the order of gaps, added up in the order of source sides; each is stored
// under its number in `shapes`.
struct CountedRules {
  std::span<const std::int64_t> offsets;  // by source side
  std::span<const std::uint32_t> targets;
  std::span<const float> counts;
  std::span<const std::uint8_t> second;
};
std::vector<float> target_counts(const CountedRules& rules, std::span<const std::uint32_t> source_order,
                                 std::span<const std::uint32_t> shapes);

}  // namespace hyperbaton
