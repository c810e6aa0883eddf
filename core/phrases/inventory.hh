// The distinct phrases and phrase pairs of a set of samples, numbered in sorted order.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "align/lexical.hh"
#include "base/heap.hh"
#include "base/numbers_view.hh"
#include "base/parallel.hh"
#include "base/slices.hh"

namespace hyperbaton {

// The location of one side of each sample.
struct SpansView {
  std::span<const std::uint32_t> sentence;
  std::span<const std::uint16_t> begin;
  std::span<const std::uint8_t> length;
  std::size_t size() const { return sentence.size(); }
};

// Phrases at places of a text, where they may overlap: phrase p is words[begins[p] .. begins[p] + lengths[p]).
struct PhrasesView {
  NumbersView begins, lengths, words;
  std::size_t size() const { return lengths.size(); }
  std::size_t length(std::size_t p) const { return lengths[p]; }
  // A word of a phrase that is long enough.
  WordId word(std::size_t p, std::size_t i) const { return static_cast<WordId>(words[begins[p] + i]); }
  // The words of a phrase, in the text, or in `room` if the text is packed.
  std::span<const WordId> read(std::size_t p, std::vector<WordId>& room) const {
    const std::size_t begin = begins[p], n = lengths[p];
    if (begin + n > words.size()) [[unlikely]]
      throw_damaged("a phrase is outside its text");
    if (const auto text = words.plain(); !text.empty()) return text.subspan(begin, n);
    room.resize(n);
    for (std::size_t i = 0; i < n; ++i) room[i] = static_cast<WordId>(words[begin + i]);
    return room;
  }
  // The words of a phrase if the text is not packed.
  std::span<const WordId> operator[](std::size_t p) const {
    std::vector<WordId> room;
    const auto phrase = read(p, room);
    if (!room.empty()) throw Error("packed phrases cannot be read in place");
    return phrase;
  }
};

// Phrase p is words[offsets[p] .. offsets[p+1]).
struct Phrases {
  std::vector<std::int64_t> offsets;
  std::vector<WordId> words;
};

// Distinct phrases, each at the place of its first sample.
struct NumberedPhrases {
  std::vector<std::uint32_t> begins;
  std::vector<std::uint8_t> lengths;
  std::vector<std::uint32_t> ids;  // of each sample
};

// Ranks of words such that comparing phrases word by word, ended by `terminator`, gives the byte order of lines that
// start `phrase |||`: the order of `LC_ALL=C sort` on Moses' files. Rules end with a different terminator.
struct ByteOrder {
  std::vector<std::uint32_t> ranks;
  std::uint32_t terminator;
};
ByteOrder byte_order(SpelledWords words, std::string_view terminator = "|||");

// Number the phrases of samples in byte order; equal phrases have equal numbers.
NumberedPhrases number_phrases(TokensView text, const ByteOrder& order, SpansView spans, unsigned n_threads,
                               const Progress& progress);

// Distinct (source phrase, target phrase) pairs, sorted; and the samples of each, in sample order.
struct PhrasePairs {
  std::vector<std::int64_t> offsets;         // pairs of source phrase p are [offsets[p], offsets[p+1])
  std::vector<std::uint32_t> targets;        // target phrase of each pair
  std::vector<std::int64_t> sample_offsets;  // samples of pair k are sample_order[sample_offsets[k] ..)
  std::vector<std::uint32_t> sample_order;
};
PhrasePairs pair_phrases(std::span<const std::uint32_t> source_ids, std::span<const std::uint32_t> target_ids,
                         std::size_t n_source_phrases, unsigned n_threads, const Progress& progress);

// Phrases and pairs of more samples than fit in memory: the samples are processed in runs, and the runs' results merged.
// The result equals that of processing all samples at once. Outputs are written sequentially.

// Merge runs of distinct phrases of one text in byte order; a phrase keeps its place in the first run that has it.
// numbers[r][p] becomes the number of phrase p of run r. The outputs must have room for all phrases of the runs; returns
// the number of distinct phrases.
struct PhrasesOut {
  std::span<std::uint32_t> begins;
  std::span<std::uint8_t> lengths;
};
std::size_t merge_phrases(std::span<const PhrasesView> runs, const ByteOrder& order, const PhrasesOut& out,
                          std::span<const std::span<std::uint32_t>> numbers);

// Pairs as in PhrasePairs.
struct PhrasePairsView {
  std::span<const std::int64_t> offsets;
  std::span<const std::uint32_t> targets;
  std::span<const std::int64_t> sample_offsets;
  std::span<const std::uint32_t> sample_order;
};
// The pairs of a run in few bytes: for each source phrase its number of pairs; for each pair its target phrase, its number
// of samples, and the samples. Target phrases of a source phrase and samples of a pair are differences from the one before.
std::vector<std::uint8_t> encode_pairs(const PhrasePairsView& pairs);

// The encoded pairs of a run, and the mapping of its phrase numbers to the merged ones.
struct PairsRun {
  std::span<const std::uint8_t> bytes;
  std::span<const std::uint32_t> source_numbers;
  std::span<const std::uint32_t> target_numbers;  // empty: target phrases have their merged numbers
  std::uint32_t first_sample;                     // the number of the run's first sample among all
};

// Reads the encoded pairs of a run.
class PairsReader {
 public:
  explicit PairsReader(const PairsRun& run) : run_(run), rest_(run.bytes) {}
  // Go to the next pair, whose samples must have been read; returns whether there is one.
  bool next();
  // The pair in merged numbers: source phrase and target phrase.
  std::uint64_t key() const { return key_; }
  // Append the samples of the pair; returns how many there are.
  std::uint32_t read_samples(std::vector<std::uint32_t>& samples);
  std::size_t n_read() const { return run_.bytes.size() - rest_.size(); }

 private:
  PairsRun run_;
  std::span<const std::uint8_t> rest_;
  std::size_t n_sources_ = 0;  // that were begun
  std::uint64_t n_pairs_ = 0;  // left of the source phrase
  std::uint64_t target_ = 0, key_ = 0;
};

// Merges the pairs of runs, which are in sample order, in batches.
class PairMerger {
 public:
  explicit PairMerger(std::span<const PairsRun> runs);
  // Consecutive pairs: the source phrase and the target phrase of each, its number of samples, and all samples.
  struct Batch {
    std::vector<std::uint32_t> sources, targets, counts, sample_order;
  };
  // The next pairs, with about n samples; none at the end.
  Batch next(std::size_t n_samples);
  // The number of bytes of each run that are no longer needed.
  std::vector<std::size_t> n_read() const;

 private:
  struct Head {
    std::uint64_t key;
    std::size_t run;
  };
  struct Before {
    bool operator()(const Head& a, const Head& b) const { return a.key != b.key ? a.key < b.key : a.run < b.run; }
  };
  std::vector<PairsReader> readers_;
  Heap<Head, Before> heads_;
};

}  // namespace hyperbaton
