// Texts, vocabularies and trees from Python, with their arrays.
#pragma once

#include "corpus/text.hh"
#include "corpus/trees.hh"
#include "module.hh"

namespace hyperbaton::bindings {

// Sentences of word numbers.
struct BoundTokens {
  Words words;
  Ints offsets;
  TokensView tokens() const { return {.tokens = view(words), .offsets = view(offsets)}; }
};

// The words of a vocabulary: word i is bytes[offsets[i] .. offsets[i + 1]).
struct Spelling {
  Bytes bytes;
  Ints offsets;
  SpelledWords words() const { return {view(bytes), view(offsets)}; }
};

inline SpelledText spelled(const BoundTokens& tokens, const Spelling& words) {
  return {.tokens = view(tokens.words),
          .offsets = view(tokens.offsets),
          .bytes = view(words.bytes),
          .word_offsets = view(words.offsets)};
}

// Words as the arrays of a vocabulary.
inline nb::tuple to_arrays(const std::vector<std::string_view>& words) {
  std::vector<std::uint8_t> bytes;
  std::vector<std::int64_t> offsets{0};
  for (const auto word : words) {
    bytes.insert(bytes.end(), word.begin(), word.end());
    offsets.push_back(static_cast<std::int64_t>(bytes.size()));
  }
  return nb::make_tuple(to_numpy(std::move(bytes)), to_numpy(std::move(offsets)));
}

// Word `number` of a vocabulary.
inline std::string_view word_of(const SpelledWords& words, std::size_t number) {
  const auto bytes = slice(words.bytes, words.offsets, number);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// The nodes of trees, with their arrays.
struct BoundTrees {
  Shorts labels, begins, ends;
  Array<std::int32_t> parents;
  Ints offsets;
  TreesView view_trees() const {
    return {.labels = view(labels),
            .begins = view(begins),
            .ends = view(ends),
            .parents = view(parents),
            .offsets = view(offsets)};
  }
};

}  // namespace hyperbaton::bindings
