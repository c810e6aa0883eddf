// Rows of Moses' rule tables, written as text.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "phrases/moses_rows.hh"
#include "rules/rule_symbols.hh"

namespace hyperbaton {

// Writes rules like phrase pairs with a label at the end of each side, and links of gaps.
class RuleRows {
 public:
  // The last words of the vocabularies are gaps, with the spelling of the file. `target_ranks` is the order of target
  // sides.
  RuleRows(const PairsView& rules, SpelledWords source_words, SpelledWords target_words,
           std::span<const std::uint32_t> target_ranks, std::size_t n_scores, Digits digits);

  // The rows of source sides, given the numbers of all their rules, in the order of the table. The text is valid until the
  // next call.
  std::string_view format(std::span<const std::uint32_t> sources, const PairNumbersView& numbers);

 private:
  // Collect the links of a rule and those of its gaps, in the order of their texts.
  void find_links(std::size_t rule, std::span<const WordId> source, std::span<const WordId> target);
  // Whether target sides differ at most in the order of their gaps.
  bool same_words(std::span<const WordId> a, std::span<const WordId> b) const;

  PairsView rules_;
  GapSymbols gaps_;
  std::span<const std::uint32_t> target_ranks_;
  RowWriter writer_;
  struct Ranked {
    std::uint32_t rank;
    std::size_t rule;
  };
  std::vector<Ranked> order_;
  std::vector<InnerLink> links_;
};

}  // namespace hyperbaton
