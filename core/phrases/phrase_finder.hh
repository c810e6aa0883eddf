// Finds phrases in byte order, the order of a phrase table, by binary search word by word.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "phrases/inventory.hh"
#include "phrases/phrase_index.hh"

namespace hyperbaton {

// The rank of each word in byte order, and last that of the end of a phrase; throws unless the phrases are in this order.
std::vector<std::uint32_t> phrase_ranks(const PhrasesView& phrases, const ByteOrder& order);

class PhraseFinder {
 public:
  PhraseFinder(std::span<const std::uint32_t> ranks, const PhrasesView& phrases);
  // Throw unless the phrases are in byte order.
  void check_order() const;
  // All phrases.
  IndexRange all() const { return {0, phrases_.size()}; }
  // Of phrases with the same first n words, those with this word next.
  IndexRange narrow(IndexRange phrases, std::size_t n, WordId word) const;
  // Of phrases with the same first n words, the one that has no other word, or kNoPhrase.
  std::uint32_t ending(IndexRange phrases, std::size_t n) const;

 private:
  std::uint32_t rank(std::size_t phrase, std::size_t place) const;
  // The first of the phrases whose rank at a place is at least this.
  std::size_t first_from(IndexRange phrases, std::size_t place, std::uint32_t least) const;

  std::span<const std::uint32_t> ranks_;
  PhrasesView phrases_;
};

}  // namespace hyperbaton
