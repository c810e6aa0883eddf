// Texts and vocabularies from Python, with their arrays.
#pragma once

#include "corpus/text.hh"
#include "module.hh"

namespace hyperbaton::bindings {

// Sentences of word numbers.
struct BoundTokens {
  Array<std::uint32_t> words;
  Array<std::int64_t> offsets;
  TokensView tokens() const { return {.tokens = view(words), .offsets = view(offsets)}; }
};

// The words of a vocabulary: word i is bytes[offsets[i] .. offsets[i + 1]).
struct Spelling {
  Array<std::uint8_t> bytes;
  Array<std::int64_t> offsets;
  SpelledWords words() const { return {view(bytes), view(offsets)}; }
};

inline SpelledText spelled(const BoundTokens& tokens, const Spelling& words) {
  return {.tokens = view(tokens.words),
          .offsets = view(tokens.offsets),
          .bytes = view(words.bytes),
          .word_offsets = view(words.offsets)};
}

}  // namespace hyperbaton::bindings
