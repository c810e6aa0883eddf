// Word edits between texts.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/parallel.hh"

namespace hyperbaton {

// Sentences of word numbers; sentence s is words[offsets[s], offsets[s + 1]).
struct WordsView {
  std::span<const std::uint32_t> words;
  std::span<const std::int64_t> offsets;

  std::size_t size() const { return offsets.size() - 1; }
  std::span<const std::uint32_t> operator[](std::size_t s) const {
    return words.subspan(offsets[s], offsets[s + 1] - offsets[s]);
  }
};

// Sentences that a thread processes at once, for fast and for slow metrics.
inline constexpr std::size_t kManySentences = 256, kFewSentences = 16;

// The fewest insertions, deletions and substitutions that turn each hypothesis h into reference `line[h]`.
std::vector<std::int64_t> edit_distances(const WordsView& hypotheses, const WordsView& references,
                                         std::span<const std::int64_t> line, unsigned n_threads, const Progress& progress);

}  // namespace hyperbaton
