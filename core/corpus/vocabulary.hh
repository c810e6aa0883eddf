// Words numbered in order of first appearance, stored in one byte array.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include "base/numbers_view.hh"
#include "base/size.hh"

namespace hyperbaton {

using WordId = std::uint32_t;
inline constexpr WordId kUnknownWord = std::numeric_limits<WordId>::max();

// A view of a vocabulary: word i is bytes[offsets[i] .. offsets[i+1]).
struct SpelledWords {
  std::span<const std::uint8_t> bytes;
  std::span<const std::int64_t> offsets;
  std::size_t size() const { return offsets.size() - 1; }
  std::string_view operator[](std::size_t i) const {
    return {reinterpret_cast<const char*>(bytes.data()) + offsets[i], to_size(offsets[i + 1] - offsets[i])};
  }
};

// The number of a word, or kUnknownWord, given the numbers of all words in byte order.
WordId find_ordered(SpelledWords words, const NumbersView& order, std::string_view wanted);

class Vocabulary {
 public:
  Vocabulary() = default;
  // Word i is bytes[offsets[i] .. offsets[i+1]).
  Vocabulary(std::span<const std::uint8_t> bytes, std::span<const std::int64_t> offsets);

  std::size_t size() const { return offsets_.size() - 1; }
  std::string_view word(WordId id) const {
    return {bytes_.data() + offsets_[id], to_size(offsets_[id + 1] - offsets_[id])};
  }
  // The word's number, or kUnknownWord.
  WordId find(std::string_view word) const;
  // The word's number; new words are added.
  WordId add(std::string_view word);

  const std::vector<char>& bytes() const { return bytes_; }
  const std::vector<std::int64_t>& offsets() const { return offsets_; }

 private:
  std::size_t slot(std::string_view word) const;
  void grow();

  std::vector<char> bytes_;
  std::vector<std::int64_t> offsets_{0};
  std::vector<WordId> table_;  // open addressing, a power of two, at most half full
};

}  // namespace hyperbaton
