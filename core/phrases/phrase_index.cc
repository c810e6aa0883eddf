#include "phrases/phrase_index.hh"

#include <algorithm>
#include <bit>

#include "base/hash.hh"

namespace hyperbaton {

PhraseIndex::PhraseIndex(const PhrasesView& phrases)
    : phrases_(phrases), slots_(std::bit_ceil(2 * phrases.size() + 2), kNoPhrase) {
  for (std::size_t p = 0; p < phrases.size(); ++p) {
    std::size_t at = hash_words(phrases[p]) & (slots_.size() - 1);
    while (slots_[at] != kNoPhrase) at = (at + 1) & (slots_.size() - 1);
    slots_[at] = static_cast<std::uint32_t>(p);
  }
}

std::uint32_t PhraseIndex::find(std::span<const WordId> phrase) const {
  std::size_t at = hash_words(phrase) & (slots_.size() - 1);
  while (slots_[at] != kNoPhrase && !std::ranges::equal(phrases_[slots_[at]], phrase)) at = (at + 1) & (slots_.size() - 1);
  return slots_[at];
}

}  // namespace hyperbaton
