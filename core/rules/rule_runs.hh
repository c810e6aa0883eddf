// Rules of many sentence pairs as sorted runs of bytes, which are written once and merged sequentially.
//
// A rule with its links and count is a key that compares like its text: the ranks of the source symbols and a terminator,
// those of the target symbols and a terminator, the links, the count. A run contains each key once, with its number of
// occurrences; a key is stored as its difference from the previous one. Counts are six-digit numbers as in Moses' files:
// sums must not depend on how sentence pairs were divided, so nothing is added up before all runs are merged.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "phrases/inventory.hh"
#include "phrases/score.hh"
#include "rules/rule_symbols.hh"

namespace hyperbaton {

using Bytes = std::vector<std::uint8_t>;
using BytesView = std::span<const std::uint8_t>;

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
class RunWriter {
 public:
  void add(BytesView key, std::uint64_t n);
  Bytes take() { return std::move(bytes_); }

 private:
  Bytes bytes_, last_;
};

class RunReader {
 public:
  explicit RunReader(BytesView run) : rest_(run), size_(run.size()) {}
  // Read the next key; false at the end.
  bool next();
  BytesView key() const { return key_; }
  std::uint64_t n() const { return n_; }
  std::size_t n_read() const { return size_ - rest_.size(); }  // bytes

 private:
  BytesView rest_;
  std::size_t size_;
  Bytes key_;
  std::uint64_t n_ = 0;
};

}  // namespace hyperbaton
