// Packed language models: sorted n-grams, and only those that a system can produce.
#pragma once

#include "lm/build.hh"

namespace hyperbaton {

// Which word may follow which: the last word of a phrase the first one of any phrase, and the words inside phrases each
// other. Numbers are the model's.
struct WordPairs {
  std::span<const std::uint8_t> last, first;  // for each word of the model, whether it is the last or first of a phrase
  std::span<const std::uint64_t> inside;      // pairs inside phrases, increasing: the first word in the upper 32 bits
  bool allow(std::uint32_t before, std::uint32_t word) const;
};

// The tables of a packed model. With `pairs` it lacks n-grams in which two words follow each other that cannot.
std::vector<NgramArrays> pack_ngrams(const NgramModel& model, const WordPairs* pairs);

}  // namespace hyperbaton
