// Rules of many sentence pairs as sorted runs of bytes, which are written once and merged sequentially.
//
// A rule with its links and count is a key: the ranks of the source symbols and a terminator, which compare like Moses'
// text, those of the target symbols and a terminator, the links, the count. A run contains each key once, with its number
// of occurrences; a key is stored as its difference from the previous one. Counts are six-digit numbers as in Moses' files:
// sums must not depend on how sentence pairs were divided, so nothing is added up before all runs are merged.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "phrases/inventory.hh"
#include "phrases/score.hh"
#include "rules/rule_symbols.hh"

namespace hyperbaton {

using Bytes = std::vector<std::uint8_t>;
using BytesView = std::span<const std::uint8_t>;

// Keys are compared by their first 24 bytes, which decide most comparisons, and then as a whole.
using KeyPrefix = std::array<std::uint64_t, 3>;
KeyPrefix prefix_of(BytesView key);
int compare_keys(BytesView x, BytesView y);  // below, equal or above 0

// A rule as symbols: word numbers, and those of gaps.
struct RuleView {
  std::span<const WordId> source, target;
  std::span<const InnerLink> links;  // of words, by target, then source
};

// Writes rules as keys and reads them again.
class RuleCodec {
 public:
  explicit RuleCodec(const RuleSymbols& symbols);
  // Append the key of a rule, without its count.
  void encode(const RuleView& rule, Bytes& key) const;
  void encode_count(float count, Bytes& key) const;

  struct Decoded {
    std::vector<WordId> source, target;
    std::vector<InnerLink> links;
    float count;
  };
  void decode(BytesView key, Decoded& rule) const;
  // The number of bytes of a key for the source side, and for both sides.
  std::size_t source_size(BytesView key) const { return side_size(key, 0, source_.terminator); }
  std::size_t sides_size(BytesView key) const { return side_size(key, source_size(key), target_.terminator); }

 private:
  std::uint32_t rank_at(BytesView key, std::size_t at) const;
  void write_rank(std::uint32_t rank, Bytes& key) const;
  std::size_t side_size(BytesView key, std::size_t at, std::uint32_t terminator) const;
  ByteOrder source_, target_;
  std::vector<WordId> source_words_, target_words_;  // by rank
  std::size_t width_;                                // bytes of a rank
};

// Writes keys in order.
class KeyWriter {
 public:
  void add(BytesView key, std::uint64_t n);
  // Write the next key whole, so that reading can begin there.
  void restart() { last_.clear(); }
  // The number of bytes that a key has in common with the last one.
  std::size_t shared(BytesView key) const;
  Bytes bytes;

 private:
  Bytes last_;
};

// Writes a run: blocks of keys, each with all keys of its source sides and readable alone, and an index.
class RunWriter {
 public:
  explicit RunWriter(const RuleCodec& codec) : codec_(codec) {}
  void add(BytesView key, std::uint64_t n);
  Bytes take();

 private:
  void end_block();
  const RuleCodec& codec_;
  KeyWriter keys_, index_;
  Bytes source_;           // the first source side of the block
  std::size_t begin_ = 0;  // of the block
};

// The parts of a run. The keys of the index are the first source sides of blocks, with the sizes of blocks in bytes as
// their numbers of occurrences.
struct RunView {
  explicit RunView(BytesView run);
  BytesView keys, index;
};

// Reads keys from the beginning of a block on.
class RunReader {
 public:
  explicit RunReader(BytesView keys) : rest_(keys) {}
  // Read the next key; false at the end.
  bool next();
  BytesView key() const { return key_; }
  std::uint64_t n() const { return n_; }

 private:
  BytesView rest_;
  Bytes key_;
  std::uint64_t n_ = 0;
};

}  // namespace hyperbaton
