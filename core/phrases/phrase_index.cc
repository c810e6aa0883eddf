#include "phrases/phrase_index.hh"

#include <algorithm>
#include <bit>

#include "base/errors.hh"
#include "base/hash.hh"

namespace hyperbaton {

namespace {

std::uint64_t hash_phrase(std::span<const WordId> phrase) {
  std::uint64_t hash = phrase.size();
  for (const auto word : phrase) hash = combine(hash, word);
  return hash;
}

}  // namespace

std::vector<std::uint32_t> build_phrase_index(const PhrasesView& phrases) {
  const std::size_t n = phrases.size();
  std::vector<std::uint32_t> slots(std::bit_ceil(2 * n + 2), kNoPhrase);
  for (std::size_t p = 0; p < n; ++p) {
    std::size_t at = hash_phrase(phrases[p]) & (slots.size() - 1);
    while (slots[at] != kNoPhrase) at = (at + 1) & (slots.size() - 1);
    slots[at] = static_cast<std::uint32_t>(p);
  }
  return slots;
}

PhraseIndex::PhraseIndex(std::span<const std::uint32_t> slots, const PhrasesView& phrases)
    : slots_(slots), phrases_(phrases) {
  if (!std::has_single_bit(slots.size()) || slots.size() < 2 * phrases.size())
    throw Error("the index does not match the phrase table: build the system again");
}

std::uint32_t PhraseIndex::find(std::span<const WordId> phrase) const {
  std::size_t at = hash_phrase(phrase) & (slots_.size() - 1);
  for (std::size_t left = std::min(slots_.size(), kMostProbes); left > 0; --left) {
    if (slots_[at] == kNoPhrase) return kNoPhrase;
    if (std::ranges::equal(phrases_[slots_[at]], phrase)) return slots_[at];
    at = (at + 1) & (slots_.size() - 1);
  }
  throw_damaged("the index of the phrase table has no free slot");
}

}  // namespace hyperbaton
