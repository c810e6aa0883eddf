// Merges runs of rules and scores them with Moses' numbers.
//
// Moses adds counts as floats in the order of sorted files: once sorted by source, target, links and count, once by
// target, source, links and count. These orders are used here, so that every digit is the same. Rules are merged by source
// in the order of the second file, and their counts are added to those of their target sides as they come.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/parallel.hh"
#include "phrases/link_sets.hh"
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
  std::vector<std::int64_t> offsets;     // rules by source side
  Phrases targets;                       // of each rule
  std::vector<std::uint32_t> link_sets;  // numbers of the most frequent ones of each rule
  std::vector<float> source_counts;      // of each source side
  std::vector<float> counts;             // of each rule, as in the file sorted by target
  std::vector<LexicalWeights> weights;
};

// Sets of links, with the first source side in byte order that has each, and the row of the rule among those of this side.
class FirstLinks {
 public:
  explicit FirstLinks(const ByteOrder& order) : order_(order) {}
  // The number of a set of links that a rule has.
  std::uint32_t add(std::span<const InnerLink> links, std::span<const WordId> source, std::size_t row);
  // The numbers of the sets of another.
  std::vector<std::uint32_t> add(const FirstLinks& other);
  // Their numbers in the order of their first rules.
  std::vector<std::uint32_t> order() const;
  const LinkSets& sets() const { return sets_; }

 private:
  struct First {
    std::vector<WordId> source;
    std::size_t row;
  };
  const ByteOrder& order_;
  LinkSets sets_;
  std::vector<First> firsts_;
};

class RuleMerger {
 public:
  // Without `sources` all are returned, otherwise only those.
  RuleMerger(std::span<const BytesView> runs, const RuleSymbols& symbols, const HashSet* sources);
  ~RuleMerger();
  // The rules in the next bytes of the runs: a batch for each thread, of about `n_bytes`; no batch at the end. Source sides
  // are in the order of Moses' files, and the rules of each in byte order.
  std::vector<RuleBatch> next(std::size_t n_bytes, const RuleLexicon& lexicon, unsigned n_threads);
  // The number of bytes of each run that are no longer needed.
  const std::vector<std::size_t>& n_read() const { return begins_; }
  // Whether a source side was left out.
  bool is_partial() const { return is_partial_; }

  // After the last batch: the counts of target sides, regardless of the order of gaps, and the sets of links of all rules.
  std::vector<float> target_counts(PhrasesView targets, unsigned n_threads) const;
  const FirstLinks& links() const { return links_; }

 private:
  class Heads;
  class SliceWork;
  // The keys from one source side to another, which are in these places of the runs.
  struct Slice {
    std::vector<std::size_t> begins;
    Bytes begin, end;  // no `end`: the last slice
  };
  Slice next_slice(std::size_t n_bytes);

  const RuleSymbols& symbols_;
  RuleCodec codec_;
  const HashSet* sources_;
  std::vector<BytesView> keys_;             // of each run
  std::unique_ptr<Heads> index_;            // the blocks that are in no slice yet
  std::vector<std::size_t> begins_, ends_;  // of the last block in a slice, by run
  Bytes bound_;                             // where the next slice begins
  FirstLinks links_;
  bool is_partial_ = false;
  struct Sum {
    std::uint64_t hash = 0;
    float count = 0;
  };
  std::vector<HashTable<Sum>> sums_;  // by the first bits of the hash of the target side
};

// The numbers of phrases in a given order.
std::vector<std::uint32_t> order_phrases(PhrasesView phrases, const ByteOrder& order, unsigned n_threads);

}  // namespace hyperbaton
