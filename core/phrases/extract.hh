// Consistent phrase pairs of an aligned bitext, one sample for each occurrence.
#pragma once

#include <cstdint>
#include <vector>

#include "align/links.hh"
#include "base/parallel.hh"

namespace hyperbaton {

// Longer sentences are rejected where time and memory are quadratic in the length, as for the orientation grid.
inline constexpr int kMaxPairedLength = 4000;
inline constexpr int kMaxPhraseLength = 255;

// Samples as columns, sorted by sentence, target begin, target end, source begin (decreasing), source end.
struct Samples {
  std::vector<std::uint32_t> sentence;
  std::vector<std::uint16_t> source_begin, target_begin;
  std::vector<std::uint8_t> source_length, target_length;
  std::vector<std::int16_t> distance_before, distance_after;
  std::vector<std::uint16_t> orientations;  // packed, see orientation_shift
  std::vector<std::int64_t> offsets;        // samples of sentence s are [offsets[s], offsets[s+1])

  void resize(std::size_t n);
};

struct ExtractOptions {
  int max_length;
  unsigned n_threads;
};

Samples extract_samples(SentenceLengths source, SentenceLengths target, LinksView links, const ExtractOptions& options,
                        const Progress& progress);

}  // namespace hyperbaton
