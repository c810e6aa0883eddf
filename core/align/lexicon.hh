// The lexical table of the aligner: p(target word | source word) and p(source word | target word) of co-occurring word
// pairs.
//
// One record serves both directions, since both use the same word pairs. The records of each source word form a separate
// small hash table, so looking up a sentence pair needs no corpus index.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "align/direction.hh"
#include "base/hash.hh"
#include "base/parallel.hh"
#include "corpus/text.hh"

namespace hyperbaton {

// Two parallel texts.
struct BitextView {
  TokensView source, target;
  std::size_t n_sentences() const { return source.n_sentences(); }
};

// A probability in 16 bits, with a relative error of at most 2^-12: a float whose exponent has 5 bits. Those below 2^-31,
// 0 included, are 2^-31, so that every sentence has a nonzero probability.
class ShortProbability {
 public:
  ShortProbability() = default;
  explicit ShortProbability(double probability) {
    const float value = std::clamp(static_cast<float>(probability), 0x1p-31f, 1.0f);
    bits_ =
        static_cast<std::uint16_t>((std::bit_cast<std::uint32_t>(value) + (1u << (kDropped - 1)) - kOffset) >> kDropped);
  }
  float value() const { return std::bit_cast<float>((std::uint32_t{bits_} << kDropped) + kOffset); }

 private:
  static constexpr unsigned kDropped = 12;                      // bits of a float's fraction
  static constexpr std::uint32_t kOffset = (127u - 31u) << 23;  // of a float's exponent
  std::uint16_t bits_ = 0;
};

class Lexicon {
 public:
  // A record is never split between cache lines.
  struct alignas(16) Entry {
    WordId target = kUnknownWord;      // kUnknownWord: a free slot
    ShortProbability probability[2];   // by Direction
    mutable std::uint32_t count[2]{};  // expected counts of an iteration, used only by the trainer
  };

  // All word pairs that co-occur in the sentence pairs for which `use[s]` is set, with probabilities 0.
  Lexicon(BitextView bitext, std::size_t n_source_words, std::size_t n_target_words, const std::vector<std::uint8_t>& use,
          unsigned n_threads);

  // The listed pairs: the targets of source word s are targets[starts[s] .. starts[s+1]), each with its two
  // probabilities.
  Lexicon(std::span<const std::int64_t> starts, std::span<const WordId> targets, std::span<const float> both);

  std::size_t n_source_words() const { return starts_.size() - 1; }
  std::span<Entry> row(WordId source) {
    return {entries_.data() + starts_[source], to_size(starts_[source + 1] - starts_[source])};
  }
  std::span<const Entry> row(WordId source) const { return const_cast<Lexicon*>(this)->row(source); }

  // A word's hash, for find and prefetch: each word of a sentence is looked up in many rows.
  static std::uint32_t hash(WordId target) { return static_cast<std::uint32_t>(mix(target) >> 32); }
  // The record of a pair in the row of its source word; null if there is none, and for kUnknownWord.
  static const Entry* find(std::span<const Entry> row, WordId target, std::uint32_t hash) {
    if (row.empty()) return nullptr;
    for (std::size_t at = place(hash, row.size());; at = at + 1 == row.size() ? 0 : at + 1) {
      if (row[at].target == kUnknownWord) return nullptr;
      if (row[at].target == target) return &row[at];
    }
  }
  static void prefetch(std::span<const Entry> row, std::uint32_t hash) {
    if (!row.empty()) __builtin_prefetch(&row[place(hash, row.size())]);
  }

 private:
  static std::size_t place(std::uint32_t hash, std::size_t size) { return (static_cast<std::uint64_t>(hash) * size) >> 32; }
  // Capacity for n records: an eighth stays free to keep probes short.
  static std::int64_t room(std::size_t n) { return n == 0 ? 0 : static_cast<std::int64_t>(n + n / 7 + 1); }
  static Entry& insert(std::span<Entry> row, WordId target);

  std::vector<std::int64_t> starts_;
  std::vector<Entry> entries_;
};

}  // namespace hyperbaton
