// The operations of a linked bitext, one sequence for each sentence pair: the training data of an operation model.
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

  // Throws Error unless all match.
  void check() const;
};

struct OperationText {
  std::vector<WordId> tokens;
  std::vector<std::int64_t> offsets{0};
  Vocabulary vocabulary;
};

// Whether each source word is translated as itself: it has a single link in the whole text, to an equal word without
// other links.
std::vector<std::uint8_t> find_singletons(const SpelledBitext& bitext);

// Cepts of one source word that is translated as itself share one operation.
OperationText write_operations(const SpelledBitext& bitext, std::span<const std::uint8_t> singletons,
                               const Progress& progress);

}  // namespace hyperbaton
