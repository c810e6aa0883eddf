// The operations of a bitext with links, one sequence for each sentence pair: what an operation model is estimated from.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "align/links.hh"
#include "base/parallel.hh"
#include "corpus/text.hh"
#include "corpus/vocabulary.hh"

namespace hyperbaton {

struct SpelledBitext {
  SpelledText source, target;
  LinksView links;

  // Throws Error unless all fit each other.
  void check() const;
};

struct OperationText {
  std::vector<WordId> tokens;
  std::vector<std::int64_t> offsets{0};
  Vocabulary vocabulary;
};

// Whether each source word stands for itself: it has a single link in the whole text, to an equal word without other links.
std::vector<std::uint8_t> find_singletons(const SpelledBitext& bitext);

// Cepts of one source word that stands for itself have one operation for all.
OperationText write_operations(const SpelledBitext& bitext, std::span<const std::uint8_t> singletons,
                               const Progress& progress);

}  // namespace hyperbaton
