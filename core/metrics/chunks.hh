// One-to-one word matching between hypothesis and reference that favours long chunks (METEOR).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/parallel.hh"
#include "metrics/edit_distance.hh"

namespace hyperbaton {

// Which words match: word w of hypotheses matches words[offsets[w], offsets[w + 1]) of references, each in a stage;
// earlier stages are better matches.
struct MatchesView {
  std::span<const std::int64_t> offsets;
  std::span<const std::uint32_t> words;
  std::span<const std::uint8_t> stages;
};

struct ChunkCounts {
  std::int64_t matches, chunks;
};

// For each hypothesis h and reference `line[h]`, the matching words and the chunks of adjacent words that they form. The
// longest possible chunk is taken first; ties go to the smallest sum of stages, then the first in the hypothesis, then
// the first in the reference. Its words match nothing else.
std::vector<ChunkCounts> count_chunks(const WordsView& hypotheses, const WordsView& references,
                                      std::span<const std::int64_t> line, const MatchesView& matches, unsigned n_threads,
                                      const Progress& progress);

}  // namespace hyperbaton
