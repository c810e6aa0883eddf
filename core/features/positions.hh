// Features of one position of a sentence: nine parts made of the words and tags around it.
//
// A sentence of n words has the positions 0 (BOS), 1 … n (its words), n + 1 (EOS), as in GO13 section 3.2; positions
// beyond are padding. A feature of a position is one of its parts (GO13 section 4.3); a feature of two positions joins a
// part of each (Table 1).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "base/hash.hh"
#include "base/size.hh"
#include "corpus/text.hh"

namespace hyperbaton {

// Reserved word numbers and labels.
inline constexpr WordId kBos = 0xfffffff0, kEos = 0xfffffff1, kPadding = 0xfffffff2;

enum Part : std::uint8_t {
  kWord2Before,
  kWord1Before,
  kWord,
  kWord1After,
  kWord2After,
  kTag,
  kTagBefore,
  kTagAfter,
  kWordTag
};
inline constexpr std::size_t kParts = 9, kWordParts = 5;

// Words and, if available, one tag for each.
struct TaggedText {
  TokensView words;
  std::span<const WordId> tags;  // empty: none
  std::size_t size() const { return words.offsets.size() - 1; }
  bool tagged() const { return !tags.empty(); }
};

// The parts of all positions of one sentence, as hashes; without tags those with a tag are missing (0).
class PositionParts {
 public:
  void assign(const TaggedText& text, std::size_t sentence, bool tagged) {
    const auto words = text.words[sentence];
    n_words_ = static_cast<int>(words.size());
    const auto first = to_size(text.words.offsets[sentence]);
    parts_.assign(words.size() + 2, {});
    const auto word = [&](int p) { return at(p, [&](std::size_t w) { return words[w]; }); };
    const auto tag = [&](int p) { return at(p, [&](std::size_t w) { return text.tags[first + w]; }); };
    for (int p = 0; p <= n_words_ + 1; ++p) {
      auto& part = parts_[to_size(p)];
      for (int offset = -2; offset <= 2; ++offset) part[to_size(offset + 2)] = combine(1, word(p + offset));
      if (!tagged) continue;
      part[kTag] = combine(2, tag(p));
      part[kTagBefore] = combine(combine(3, tag(p - 1)), tag(p));
      part[kTagAfter] = combine(combine(4, tag(p)), tag(p + 1));
      part[kWordTag] = combine(combine(5, word(p)), tag(p));
    }
  }

  int n_words() const { return n_words_; }
  const std::array<std::uint64_t, kParts>& operator[](int p) const { return parts_[to_size(p)]; }

 private:
  template <class Inside>
  WordId at(int p, const Inside& inside) const {
    if (p >= 1 && p <= n_words_) return inside(to_size(p - 1));
    return p == 0 ? kBos : p == n_words_ + 1 ? kEos : kPadding;
  }

  int n_words_ = 0;
  std::vector<std::array<std::uint64_t, kParts>> parts_;
};

}  // namespace hyperbaton
