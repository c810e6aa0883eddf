// Numbers for the n-grams of a text and for its pairs of linked words, in order of first occurrence.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "base/errors.hh"
#include "base/hash.hh"
#include "base/large_array.hh"
#include "base/size.hh"
#include "features/templates.hh"

namespace hyperbaton {

inline constexpr std::uint32_t kNoNumber = std::numeric_limits<std::uint32_t>::max();

// Numbers for pairs of 32-bit values, in order of first occurrence.
class PairNumbers {
 public:
  explicit PairNumbers(const Room& room) : room_(room) { grow(1024); }
  std::uint32_t number(std::uint32_t first, std::uint32_t second) {
    if (2 * n_ >= places_.size()) grow(2 * places_.size());
    const std::uint64_t key = (std::uint64_t{first} << 32) | second;
    Place& place = find(key);
    if (place.number == kNoNumber) place = {key, static_cast<std::uint32_t>(n_++)};
    return place.number;
  }
  std::size_t size() const { return n_; }

 private:
  struct Place {
    std::uint64_t key;
    std::uint32_t number;
  };

  Place& find(std::uint64_t key) {
    std::size_t at = static_cast<std::size_t>(mix(key)) & (places_.size() - 1);
    while (places_[at].number != kNoNumber && places_[at].key != key) at = (at + 1) & (places_.size() - 1);
    return places_[at];
  }
  void grow(std::size_t size) {
    const LargeArray<Place> old = std::move(places_);
    places_ = LargeArray<Place>(size, room_);
    std::fill(places_.begin(), places_.end(), Place{0, kNoNumber});
    for (const Place& place : old)
      if (place.number != kNoNumber) find(place.key) = place;
  }

  const Room& room_;
  std::size_t n_ = 0;
  LargeArray<Place> places_;
};

// The numbers of the n-grams of one layer.
class GramNumbers {
 public:
  GramNumbers(const TokensView& text, std::size_t longest, const Room& room)
      : text_(text), longest_(longest), numbers_(text.tokens.size() * longest, room), first_(longest) {
    if (text.tokens.size() >= kNoNumber) throw Error("features need texts of fewer than 2^32 - 1 words");
    for (std::size_t n = 1; n <= longest; ++n) {
      PairNumbers pairs(room);
      each_gram(n, [&](std::size_t p) {
        const std::uint32_t shorter = n == 1 ? 0 : numbers_[p * longest + n - 2];
        numbers_[p * longest + n - 1] = pairs.number(shorter, text.tokens[p + n - 1]);
      });
      first_[n - 1] = LargeArray<std::uint32_t>(pairs.size(), room);
      std::uint32_t n_known = 0;
      each_gram(n, [&](std::size_t p) {
        if (numbers_[p * longest + n - 1] == n_known) first_[n - 1][n_known++] = static_cast<std::uint32_t>(p);
      });
    }
  }
  // Numbers of the n-grams that start at a position, the shortest first; those that cross the end of the sentence are
  // undefined.
  const std::uint32_t* at(std::size_t position) const { return numbers_.data() + position * longest_; }
  std::size_t n_grams(std::size_t length) const { return first_[length - 1].size(); }
  std::span<const WordId> words(std::size_t length, std::uint32_t number) const {
    return text_.tokens.subspan(first_[length - 1][number], length);
  }

 private:
  template <class OnGram>
  void each_gram(std::size_t length, const OnGram& on_gram) const {
    for (std::size_t s = 0; s + 1 < text_.offsets.size(); ++s) {
      const auto begin = to_size(text_.offsets[s]), end = to_size(text_.offsets[s + 1]);
      for (std::size_t p = begin; p + length <= end; ++p) on_gram(p);
    }
  }

  TokensView text_;
  std::size_t longest_;
  LargeArray<std::uint32_t> numbers_;
  std::vector<LargeArray<std::uint32_t>> first_;  // by length and number: a position of the n-gram
};

// The numbers of the pairs of linked words.
class LinkNumbers {
 public:
  LinkNumbers(const Occurrences& where, const TokensView& source, const TokensView& target, const Room& room)
      : numbers_(where.links.points.size(), room) {
    std::vector<std::uint32_t> source_of(where.links.offsets.size() - 1, kNoNumber);
    for (std::size_t i = 0; i < where.size(); ++i) {
      std::uint32_t& sentence = source_of[where.target.sentence[i]];
      if (sentence != kNoNumber && sentence != where.source.sentence[i])
        throw Error("a sentence is linked with two others");
      sentence = where.source.sentence[i];
    }
    const auto each_link = [&](const auto& on_link) {
      for (std::size_t t = 0; t < source_of.size(); ++t) {
        if (source_of[t] == kNoNumber) continue;
        const auto source_words = source[source_of[t]], target_words = target[t];
        for (auto k = to_size(where.links.offsets[t]); k < to_size(where.links.offsets[t + 1]); ++k) {
          const Link link = where.links.points[k];
          on_link(k, std::array<WordId, 2>{source_words[link.source], target_words[link.target]});
        }
      }
    };
    PairNumbers pairs(room);
    each_link([&](std::size_t k, const std::array<WordId, 2>& pair) { numbers_[k] = pairs.number(pair[0], pair[1]); });
    words_ = LargeArray<std::array<WordId, 2>>(pairs.size(), room);
    std::uint32_t n_known = 0;
    each_link([&](std::size_t k, const std::array<WordId, 2>& pair) {
      if (numbers_[k] == n_known) words_[n_known++] = pair;
    });
  }
  std::uint32_t at(std::size_t point) const { return numbers_[point]; }
  std::size_t size() const { return words_.size(); }
  std::span<const WordId> words(std::uint32_t number) const { return words_[number]; }

 private:
  LargeArray<std::uint32_t> numbers_;  // by point; undefined for those of sentences without phrase pairs
  LargeArray<std::array<WordId, 2>> words_;
};

}  // namespace hyperbaton
