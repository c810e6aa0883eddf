// The coverage before a sample: the source words that are linked to target words left of it.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "align/links.hh"
#include "phrases/coverage.hh"

namespace hyperbaton {

// Samples as columns (phrases/extract.hh), by sentence.
struct SamplePlaces {
  std::span<const std::uint32_t> sentence;
  std::span<const std::uint16_t> source_begin;
  std::span<const std::uint8_t> source_length;
  std::span<const std::uint16_t> target_begin;
};

// Unlinked source words are translated as part of some phrase; the links do not say which.
enum class Unlinked : std::uint8_t {
  NotVisited,
  // An unlinked word counts as visited if the linked words next to it on both sides are, unless the phrase, or an end of
  // the sentence, comes first there. In translations of the sentence by consistent phrase pairs that include this one,
  // such words are covered.
  WithNeighbours,
};

struct SampleStep {
  std::size_t sample;
  Coverage visited;
  int n_words;
  SourceSpan phrase;
};

void for_each_sample(const SamplePlaces& samples, LinksView links, SentenceLengths source, Unlinked unlinked,
                     const std::function<void(const SampleStep&)>& use);

}  // namespace hyperbaton
