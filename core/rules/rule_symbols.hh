// The symbols of rules: words and gaps. Gaps are the last words of the vocabularies.
#pragma once

#include <cstdint>
#include <span>

#include "phrases/inventory.hh"

namespace hyperbaton {

inline constexpr std::size_t kMaxGaps = 2;  // of a rule

// The numbers of gaps: one on the source side, where gaps are numbered by position; on the target side one for each.
struct GapSymbols {
  WordId source, first_target;
  bool is_target(WordId symbol) const { return symbol >= first_target; }
};

// The last source word is the gap, the last two target words are the gaps.
GapSymbols gap_symbols(SpelledWords source_words, SpelledWords target_words);

// The order of Moses' rule files, where all gaps have the same spelling.
struct MosesOrder {
  ByteOrder source, target;
};

struct RuleSymbols {
  RuleSymbols(SpelledWords source_words, SpelledWords target_words);
  GapSymbols gaps;
  ByteOrder source, target;
  MosesOrder moses;
};

}  // namespace hyperbaton
