// The distinct phrases and phrase pairs of a set of samples, numbered in the order of sorted text.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "align/lexical.hh"
#include "base/parallel.hh"
#include "base/slices.hh"

namespace hyperbaton {

// Where one side of each sample lies.
struct SpansView {
  std::span<const std::uint32_t> sentence;
  std::span<const std::uint16_t> begin;
  std::span<const std::uint8_t> length;
  std::size_t size() const { return sentence.size(); }
};

struct PhrasesView {
  std::span<const std::int64_t> offsets;
  std::span<const WordId> words;
  std::size_t size() const { return offsets.size() - 1; }
  std::span<const WordId> operator[](std::size_t p) const { return slice(words, offsets, p); }
};

// Distinct phrases. Phrase p is words[offsets[p] .. offsets[p+1]).
struct Phrases {
  std::vector<std::int64_t> offsets;
  std::vector<WordId> words;
};

struct NumberedPhrases {
  Phrases phrases;
  std::vector<std::uint32_t> ids;  // of each sample
};

// Ranks of words such that phrases compared word by word, and closed by `terminator`, come out in the byte order of
// lines that start `phrase |||`: the order of `LC_ALL=C sort` on Moses' files. Rules close with another word.
struct ByteOrder {
  std::vector<std::uint32_t> ranks;
  std::uint32_t terminator;
};
ByteOrder byte_order(std::span<const std::uint8_t> vocabulary_bytes, std::span<const std::int64_t> vocabulary_offsets,
                     std::string_view terminator = "|||");

// Number the phrases of samples, equal phrases equally, in byte order.
NumberedPhrases number_phrases(TokensView text, const ByteOrder& order, SpansView spans, unsigned n_threads,
                               const Progress& progress);

// Distinct (source phrase, target phrase) pairs, sorted; and the samples of each, in the order of the samples.
struct PhrasePairs {
  std::vector<std::int64_t> offsets;         // pairs of source phrase p are [offsets[p], offsets[p+1])
  std::vector<std::uint32_t> targets;        // target phrase of each pair
  std::vector<std::int64_t> sample_offsets;  // samples of pair k are sample_order[sample_offsets[k] ..)
  std::vector<std::uint32_t> sample_order;
};
PhrasePairs pair_phrases(std::span<const std::uint32_t> source_ids, std::span<const std::uint32_t> target_ids,
                         std::size_t n_source_phrases, unsigned n_threads, const Progress& progress);

// Phrases and pairs of more samples than fit into memory: the samples are taken in runs, and the runs' results merged.
// What comes out is what all samples at once would give. Outputs are written from front to back.

// Merge runs of distinct phrases in byte order. numbers[r][p] becomes the number of phrase p of run r. The outputs must
// have room for all phrases of the runs; returns how many phrases are distinct.
std::size_t merge_phrases(std::span<const PhrasesView> runs, const ByteOrder& order, std::span<std::int64_t> offsets,
                          std::span<WordId> words, std::span<const std::span<std::uint32_t>> numbers);

// The pairs of a run of samples, by its own numbers of phrases, and what these are among all phrases.
struct PairsRun {
  std::span<const std::int64_t> offsets;
  std::span<const std::uint32_t> targets;
  std::span<const std::int64_t> sample_offsets;
  std::span<const std::uint32_t> sample_order;
  std::span<const std::uint32_t> source_numbers, target_numbers;
  std::uint32_t first_sample;  // the number of the run's first sample among all
};

// Merge the pairs of runs, which are in the order of their samples. `offsets` has room for all source
// phrases and one more, the others for all pairs of the runs and for all samples; returns how many pairs are distinct.
struct PairsOut {
  std::span<std::int64_t> offsets;
  std::span<std::uint32_t> targets;
  std::span<std::int64_t> sample_offsets;
  std::span<std::uint32_t> sample_order;
};
std::size_t merge_pairs(std::span<const PairsRun> runs, const PairsOut& out);

}  // namespace hyperbaton
