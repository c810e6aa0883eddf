// The lexical table of the aligner: p(target word | source word) and p(source word | target word) of co-occurring word
// pairs.
//
// One record serves both directions, since both use the same word pairs. The records of each source word form a separate
// small hash table, so looking up a sentence pair needs no corpus index.
#pragma once

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

class Lexicon {
 public:
  struct Entry {
    WordId target;                   // kUnknownWord: a free slot
    float probability[2];            // by Direction
    mutable std::uint32_t count[2];  // expected counts of an iteration, used only by the trainer
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
  // Capacity for n records: a quarter stays free to keep probes short.
  static std::int64_t room(std::size_t n) { return n == 0 ? 0 : static_cast<std::int64_t>(n + n / 3 + 1); }
  static Entry& insert(std::span<Entry> row, WordId target);

  std::vector<std::int64_t> starts_;
  std::vector<Entry> entries_;
};

}  // namespace hyperbaton
