// Counts of linked word pairs and the translation probabilities derived from them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "align/links.hh"
#include "base/numbers_view.hh"
#include "corpus/vocabulary.hh"

namespace hyperbaton {

// Counts of linked word pairs by source word. Row n_source_words is the empty source word, and target number
// n_target_words is the empty target word: an unlinked word is counted as linked to the empty word of the other side.
struct LexicalCounts {
  std::vector<std::int64_t> offsets;  // entries of source word s are [offsets[s], offsets[s+1]), targets increasing
  std::vector<std::uint32_t> targets;
  std::vector<std::uint32_t> counts;
};

struct VocabularySizes {
  std::size_t source, target;
};

LexicalCounts lexical_counts(TokensView source, TokensView target, LinksView links, VocabularySizes sizes,
                             unsigned n_threads);

// Counts of pairs, and of what is on each side.
struct CountsView {
  NumbersView pairs, source, target;
};

// Probabilities of these entries: (p(target|source), p(source|target)) for each, stored or computed from the counts.
struct LexicalTable {
  NumbersView offsets, targets;
  std::span<const double> probabilities;  // 2 for each entry; none: there are counts
  CountsView counts;
  VocabularySizes sizes;

  // The entry's two probabilities; none if the words were never linked or are unknown.
  std::optional<std::array<double, 2>> find(WordId source, WordId target) const;
};

}  // namespace hyperbaton
