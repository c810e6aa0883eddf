// A hash index of source phrases: from word numbers to the phrase's number in a phrase table.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "phrases/inventory.hh"

namespace hyperbaton {

inline constexpr std::uint32_t kNoPhrase = 0xffffffffU;

class PhraseIndex {
 public:
  explicit PhraseIndex(const PhrasesView& phrases);
  // The number of a phrase, or kNoPhrase.
  std::uint32_t find(std::span<const WordId> phrase) const;

 private:
  PhrasesView phrases_;
  std::vector<std::uint32_t> slots_;  // open addressing, a power of two, at most half full; kNoPhrase: free
};

}  // namespace hyperbaton
