// How often words are linked to each other, and what that says of their translation probabilities.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "align/links.hh"
#include "corpus/vocabulary.hh"

namespace hyperbaton {

// Counts of linked word pairs by source word. Row n_source_words stands for the empty source word, target number
// n_target_words for the empty target word: an unlinked word is linked to the other side's empty word.
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

// Probabilities over the same entries: one row of (p(target|source), p(source|target)) for each.
struct LexicalTable {
  std::span<const std::int64_t> offsets;
  std::span<const std::uint32_t> targets;
  std::span<const double> probabilities;  // 2 for each entry
  VocabularySizes sizes;

  // The entry's pair of probabilities; a null pointer where the words were never linked, or are unknown.
  const double* find(WordId source, WordId target) const;
};

}  // namespace hyperbaton
