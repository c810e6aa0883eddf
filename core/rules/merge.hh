// Merges runs of rules and scores them with Moses' numbers.
//
// Moses adds counts as floats in the order of sorted files: once sorted by source, target, links and count, once by target,
// source, links and count. The orders below are those, so that every digit comes out the same.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/parallel.hh"
#include "rules/hash_set.hh"
#include "rules/rule_runs.hh"

namespace hyperbaton {

// Word probabilities, and the numbers that words of rules have in their table; kUnknownWord for gaps.
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
  std::vector<float> counts;          // of each rule, as the file sorted by target has it
  std::vector<LexicalWeights> weights;
  // Whether a rule follows another with the same source and target but for the order of gaps, where rules are sorted by
  // target.
  std::vector<std::uint8_t> second;
  std::vector<std::uint8_t> kept;  // whether a source side is in the set that was asked for
};

class RuleMerger {
 public:
  // Without `sources` all are kept.
  RuleMerger(std::span<const BytesView> runs, const RuleSymbols& symbols, const HashSet* sources);
  ~RuleMerger();
  // About so many rules, and no source side without all of its rules; none at the end.
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

// The numbers of phrases in another order than theirs.
std::vector<std::uint32_t> order_phrases(PhrasesView phrases, const ByteOrder& order, unsigned n_threads);

// For each target side the number of one with the same words and gaps in source order, or its own where there is none.
// Target sides are in the given order.
std::vector<std::uint32_t> gap_order_ignored(PhrasesView targets, const ByteOrder& order, GapSymbols gaps,
                                             unsigned n_threads);

// The counts of target sides that differ in the order of gaps only, added up in the order of source sides; each is found
// under the number that `shapes` has.
struct CountedRules {
  std::span<const std::int64_t> offsets;  // by source side
  std::span<const std::uint32_t> targets;
  std::span<const float> counts;
  std::span<const std::uint8_t> second;
};
std::vector<float> target_counts(const CountedRules& rules, std::span<const std::uint32_t> source_order,
                                 std::span<const std::uint32_t> shapes);

}  // namespace hyperbaton
