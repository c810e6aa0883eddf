// Word edits between texts.
#pragma once

#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "base/parallel.hh"
#include "base/slices.hh"

namespace hyperbaton {

// Sentences of word numbers.
using WordsView = SlicesView<std::uint32_t>;

// Sentences that a thread processes at once, for fast and for slow metrics.
inline constexpr std::size_t kManySentences = 256, kFewSentences = 16;

// count(hypothesis, reference, poll) of each hypothesis h and reference `line[h]`.
template <class Word, class Count>
auto count_pairs(const SlicesView<Word>& hypotheses, const SlicesView<Word>& references, std::span<const std::int64_t> line,
                 std::size_t n_together, unsigned n_threads, const Progress& progress, const Count& count) {
  using Words = std::span<const Word>;
  std::vector<std::invoke_result_t<Count, Words, Words, Poll&>> counts(hypotheses.size());
  parallel_chunks(hypotheses.size(), n_together, n_threads, progress, [&](std::size_t begin, std::size_t end, Poll& poll) {
    for (std::size_t h = begin; h < end; ++h) counts[h] = count(hypotheses[h], references[to_size(line[h])], poll);
  });
  return counts;
}

// The fewest insertions, deletions and substitutions that turn each hypothesis h into reference `line[h]`.
std::vector<std::int64_t> edit_distances(const WordsView& hypotheses, const WordsView& references,
                                         std::span<const std::int64_t> line, unsigned n_threads, const Progress& progress);

}  // namespace hyperbaton
