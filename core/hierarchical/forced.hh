// Where a partial translation can occur in the forced translation.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "base/interner.hh"

namespace hyperbaton {

// The positions where a part can begin, as the number of a set, and its length.
struct ForcedPart {
  std::uint32_t starts = 0, length = 0;
};

class Forced {
 public:
  explicit Forced(std::span<const std::uint32_t> words) : words_(words) {
    std::vector<std::uint32_t> all(words.size() + 1);
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::uint32_t>(i);
    number(all);  // of a part without words
    start_ = number({0});
  }

  // The part at the start of the translation.
  ForcedPart start() const { return {start_, 0}; }

  // Append a word or a part; false if the result does not occur in the translation.
  bool append(ForcedPart& part, std::uint32_t word) {
    return keep(part, 1, [&](std::uint32_t at) { return at < words_.size() && words_[at] == word; });
  }
  bool append(ForcedPart& part, ForcedPart added) {
    const auto& starts = sets_[added.starts];
    return keep(part, added.length, [&](std::uint32_t at) { return std::ranges::binary_search(starts, at); });
  }
  bool complete(ForcedPart part) const { return part.starts == start_ && part.length == words_.size(); }

 private:
  template <class Fits>
  bool keep(ForcedPart& part, std::uint32_t length, const Fits& fits) {
    std::vector<std::uint32_t> kept;
    for (const auto start : sets_[part.starts])
      if (fits(start + part.length)) kept.push_back(start);
    part.starts = number(kept);
    part.length += length;
    return !kept.empty();
  }
  std::uint32_t number(const std::vector<std::uint32_t>& set) {
    const auto [id, is_new] = numbers_.number(std::span<const std::uint32_t>(set));
    if (is_new) sets_.push_back(set);
    return id;
  }

  std::span<const std::uint32_t> words_;
  std::vector<std::vector<std::uint32_t>> sets_;
  Interner numbers_;
  std::uint32_t start_;
};

}  // namespace hyperbaton
