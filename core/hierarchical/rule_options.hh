// The rules that apply to a sentence: the best target sides of every matching source side, with the data that the search
// needs.
#pragma once

#include <span>
#include <vector>

#include "base/u64_map.hh"
#include "hierarchical/chart_lm.hh"
#include "hierarchical/forced.hh"
#include "hierarchical/grammar.hh"

namespace hyperbaton {

// Rules that are not in the table.
inline constexpr std::int64_t kGluePair = -3, kStartPair = -4, kEndPair = -5;

struct RuleOption {
  std::int64_t pair;               // of the table, or kUnknownPair, kDemandedPair, kGluePair, kStartPair, kEndPair
  std::uint32_t source;            // source side in the table, kNoPhrase if it has none
  std::uint8_t n_gaps, first_gap;  // their number, and the first one on the target side
  float score;                     // weighted, of the rule's own values
  float words_score;               // weighted, of its runs of words by the language models, without context
  std::uint32_t target, n_target;  // target symbols
  std::uint32_t visits, n_visits;  // source words and gaps in target order, if there are features to read them
};

// A symbol of a target side, or of the source side in visit order: a word or a gap.
struct RuleSymbol {
  std::uint32_t value;  // a target word or the number of a source symbol; for gaps their number
  bool is_gap;
};

class RuleOptions {
 public:
  // Options with fixed numbers.
  static constexpr std::uint32_t kGlue = 0, kStart = 1, kEnd = 2;
  // A range of options, best estimate first.
  struct Range {
    std::uint32_t first, last;
    bool empty() const { return first == last; }
  };

  RuleOptions(const ChartInput& input, const ChartSettings& settings, std::size_t sentence, RuleCache& cache,
              std::vector<ChartLm>& lms, Forced* forced);

  // The options of a source side of the table, of an unknown word, and of a required translation.
  Range of_phrase(std::uint32_t phrase);
  Range of_unknown(int position);
  Range of_demand(std::size_t demand);

  const RuleOption& operator[](std::uint32_t option) const { return options_[option]; }
  std::span<const RuleSymbol> target(const RuleOption& option) const {
    return std::span(symbols_).subspan(option.target, option.n_target);
  }
  std::span<const RuleSymbol> visits(const RuleOption& option) const {
    return std::span(symbols_).subspan(option.visits, option.n_visits);
  }
  // The runs of words before, between and after the gaps of a target side, which are scored only once, without context.
  struct WordRuns {
    std::array<LmPart, kMaxGaps + 1> parts;
    float score;  // of all of them
  };
  // For each language model.
  const WordRuns* runs(std::uint32_t option) const { return runs_.data() + option * n_lms_; }
  // Source symbols of an option, and whether each is a gap. The words of a rule that is not in the table are one symbol.
  std::size_t n_source_symbols(const RuleOption& option) const;
  bool source_is_gap(const RuleOption& option, std::size_t symbol) const;
  // Unweighted values of the rule itself, added to columns.
  void add_own_values(const RuleOption& option, float* columns) const;
  // Links between words, by source symbol and target symbol.
  std::vector<Link> links(const RuleOption& option) const;

  // The best target sides of a source side, as many as the table limit allows.
  RankedPairs rank(std::uint32_t phrase) const;

 private:
  std::span<const WordId> target_of(std::int64_t pair) const;
  void own_values(std::int64_t pair, std::uint32_t source, std::size_t n_words, float* values) const;
  float weighted(std::span<const float> values) const;
  float estimate_words(std::span<const WordId> target) const;
  bool possible(std::span<const WordId> target) const;
  int gap_number(WordId word) const {
    for (std::size_t g = 0; g < kMaxGaps; ++g)
      if (word == input_.grammar.gaps[g]) return static_cast<int>(g);
    return -1;
  }
  void add(RuleOption option, std::span<const WordId> target, bool from_table);
  Range add_single(std::int64_t pair, std::span<const WordId> target);

  const ChartInput& input_;
  const ChartSettings& settings_;
  std::size_t sentence_;
  RuleCache& cache_;
  std::vector<ChartLm>& lms_;
  std::size_t n_lms_;
  Forced* forced_;
  std::vector<RuleOption> options_;
  std::vector<RuleSymbol> symbols_;
  std::vector<WordRuns> runs_;
  U64Map by_phrase_;
  std::vector<Range> ranges_;
  mutable PairScoreReader scores_;
  mutable std::vector<float> values_;
  mutable std::vector<WordId> room_;
};

}  // namespace hyperbaton
