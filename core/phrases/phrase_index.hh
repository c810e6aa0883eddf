// A hash index of source phrases: from word numbers to the phrase's number in a phrase table.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "phrases/inventory.hh"

namespace hyperbaton {

// An open-addressing table of phrase numbers, a power of two slots, at most half full; kNoPhrase marks a free one.
inline constexpr std::uint32_t kNoPhrase = 0xffffffffU;

std::vector<std::uint32_t> build_phrase_index(const PhrasesView& phrases);

class PhraseIndex {
 public:
  PhraseIndex(std::span<const std::uint32_t> slots, const PhrasesView& phrases);
  // The number of a phrase, or kNoPhrase.
  std::uint32_t find(std::span<const WordId> phrase) const;

 private:
  std::span<const std::uint32_t> slots_;
  PhrasesView phrases_;
};

}  // namespace hyperbaton
