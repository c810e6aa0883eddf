// n-gram probabilities with back-off.
//
// An n-gram is a node of a trie that grows from the newest word to the oldest: the node of "a b c" is the child "a" of
// the node of "b c", which is the child "b" of the word "c". A child is found by hashing (parent, word), an exact 64-bit
// key, so two n-grams are never confused. One query is one walk: the deepest node on the path c, b, a … contains the
// probability, and the nodes on the path contain the back-off weights of the contexts that end in c, which the next query
// needs.
//
// The n-grams of a packed model (`packed_ngrams.hh`) are sorted instead of hashed, so a child is found by bisection. They
// take a third to a half of the memory, and queries more time.
//
// Everything is read from borrowed arrays and is thread-safe.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>

#include "base/errors.hh"
#include "base/hash.hh"
#include "base/slices.hh"

namespace hyperbaton {

inline constexpr std::uint32_t kMaxNgramOrder = 9;

// The words before the next one, newest first, as far as the model can distinguish them. Words beyond `length` are zero,
// so that states are equal exactly if every continuation has the same probability for both, as far as the model knows.
struct LmState {
  std::array<std::uint32_t, kMaxNgramOrder - 1> words{};
  std::array<float, kMaxNgramOrder - 1> backoff{};  // of the newest 1, 2, … words as context; log10, determined by words
  std::uint8_t length = 0;

  bool operator==(const LmState& other) const { return length == other.length && words == other.words; }
};

// The n-grams of one order in memory. A slot is `stride` bytes: an 8-byte key, the probability and, unless the order is
// the highest, the back-off weight; both are log10, floats or, with bins, one-byte bin numbers.
//
// A slot of a packed order has a shorter key: from the lowest bit on, the word; unless the order is the highest, two flags
// and the slot of the first child. Slots are sorted by parent and word, so the children of a node end where those of the
// next one begin. After the slots there are kPackedEnd more, of which the first has the end of the last children.
struct NgramSlots {
  std::span<const std::uint8_t> bytes;
  std::size_t stride;
  std::span<const float> prob_bins, backoff_bins;
};

// A key: the parent's slot in the order below, three flags, and the word. Words themselves are the slots of order 1.
namespace ngram_key {
inline constexpr std::uint64_t kExtendsLeft = 1ULL << 29;  // the node has children
inline constexpr std::uint64_t kExtendsRight =
    1ULL << 30;  // it matters as a context: a longer n-gram has it, or its back-off weight is not 0
inline constexpr std::uint64_t kBlank = 1ULL << 31;  // not an n-gram of the model, only a prefix of one
inline constexpr std::uint64_t kFlags = kExtendsLeft | kExtendsRight | kBlank;
inline constexpr std::uint64_t kEmpty = ~0ULL;
inline constexpr std::uint32_t kMaxWords = (1U << 29) - 1;
inline constexpr std::size_t kPackedEnd = 8;
inline std::uint64_t make(std::uint32_t parent, std::uint32_t word) {
  return static_cast<std::uint64_t>(parent) << 32 | word;
}
inline std::uint32_t parent(std::uint64_t key) { return static_cast<std::uint32_t>(key >> 32); }
inline std::uint32_t word(std::uint64_t key) { return static_cast<std::uint32_t>(key & ~kFlags); }
}  // namespace ngram_key

// A hash of an n-gram's words, from the newest to the oldest.
class NgramHash {
 public:
  explicit NgramHash(std::uint32_t newest) : value_(mix(newest)) {}
  void extend(std::uint32_t older) { value_ = (value_ ^ (older + 1ULL)) * 0x9e3779b97f4a7c15ULL, value_ ^= value_ >> 29; }
  // Where the probe for the n-gram starts among n slots.
  std::uint32_t home(std::uint64_t n_slots) const {
    return static_cast<std::uint32_t>(((value_ * 0xd6e8feb86659fd93ULL) >> 32) * n_slots >> 32);
  }

 private:
  std::uint64_t value_;
};

// The slots of one order, by number.
class NgramTable {
 public:
  static constexpr std::uint32_t kNone = ~0U;

  // A range of slots.
  struct Range {
    std::uint64_t begin, end;
  };

  NgramTable() = default;
  // Only an order that is not the first may be packed: one that is given the number of words.
  NgramTable(const NgramSlots& slots, bool highest, std::uint64_t n_words = 0)
      : bytes_(slots.bytes.data()),
        stride_(slots.stride),
        prob_bins_(slots.prob_bins.empty() ? nullptr : slots.prob_bins.data()),
        backoff_bins_(slots.backoff_bins.empty() ? nullptr : slots.backoff_bins.data()) {
    const std::size_t value = prob_bins_ ? 1 : sizeof(float), n_values = highest ? 1 : 2;
    key_bytes_ = stride_ - std::min(stride_, n_values * value);
    if (key_bytes_ < 8 && n_words > 0) {
      word_bits_ = static_cast<unsigned>(std::bit_width(n_words));
      has_children_ = !highest;
    }
    const bool has_room = key_bytes_ == 8 || (is_packed() && 8 * key_bytes_ >= word_bits_ + (highest ? 0 : kFlagBits));
    const auto fits = [&](std::span<const float> bins) { return bins.size() == (prob_bins_ ? 256 : 0); };
    if (!has_room || slots.bytes.size() % stride_ != 0 || slots.bytes.size() / stride_ >= kNone ||
        (is_packed() && slots.bytes.size() / stride_ < ngram_key::kPackedEnd) || !fits(slots.prob_bins) ||
        !(highest ? slots.backoff_bins.empty() : fits(slots.backoff_bins)))
      throw Error("the arrays of the language model do not match: build the artefact again");
    n_slots_ = slots.bytes.size() / stride_ - (is_packed() ? ngram_key::kPackedEnd : 0);
  }

  bool is_packed() const { return word_bits_ > 0; }
  // The values of the bins; none without bins.
  std::span<const float> prob_bins() const { return bins(prob_bins_); }
  std::span<const float> backoff_bins() const { return bins(backoff_bins_); }
  std::uint64_t n_slots() const { return n_slots_; }
  // The key of a slot; of a packed order without the parent.
  std::uint64_t key(std::uint32_t slot) const {
    if (!is_packed()) return stored_key(slot);
    const auto stored = stored_key(slot);
    std::uint64_t key = stored & word_mask();
    if (has_children_) {
      key |= (stored >> word_bits_ & ((1U << kFlagBits) - 1)) << 30;
      if (first_child(slot) < first_child(slot + 1)) key |= ngram_key::kExtendsLeft;
    }
    return key;
  }
  // The slots of the children of a node, of which there are `n_next`, if the order above is packed.
  Range children(std::uint32_t slot, std::uint64_t n_next) const {
    if (!is_packed()) {  // words: the key has the first child instead of a parent
      const auto end = slot + 1U < n_slots_ ? ngram_key::parent(stored_key(slot + 1U)) : n_next;
      return {ngram_key::parent(stored_key(slot)), std::min<std::uint64_t>(end, n_next)};
    }
    return {first_child(slot), std::min(first_child(slot + 1), n_next)};
  }
  // The slot of a word among the children of a node, or kNone.
  std::uint32_t find_packed(Range range, std::uint32_t word) const {
    auto [begin, end] = range;
    while (begin < end) {
      const auto middle = begin + (end - begin) / 2;
      const auto here = stored_key(static_cast<std::uint32_t>(middle)) & word_mask();
      if (here == word) return static_cast<std::uint32_t>(middle);
      if (here < word)
        begin = middle + 1;
      else
        end = middle;
    }
    return kNone;
  }
  // The bytes of the values of a slot: the probability and, unless the order is the highest, the back-off weight.
  std::span<const std::uint8_t> values(std::uint32_t slot) const {
    return {bytes_ + slot * stride_ + key_bytes_, value_bytes()};
  }
  std::size_t value_bytes() const { return stride_ - key_bytes_; }
  // Whether the slot contains an n-gram of the model.
  bool is_ngram(std::uint32_t slot) const {
    const auto here = key(slot);
    return here != ngram_key::kEmpty && !(here & ngram_key::kBlank);
  }
  std::size_t count_ngrams() const {
    std::size_t n = 0;
    for (std::uint32_t slot = 0; slot < n_slots_; ++slot) n += is_ngram(slot) ? 1 : 0;
    return n;
  }
  float prob(std::uint32_t slot) const { return value(bytes_ + slot * stride_ + key_bytes_, prob_bins_); }
  float backoff(std::uint32_t slot) const {
    return value(bytes_ + slot * stride_ + key_bytes_ + (prob_bins_ ? 1 : sizeof(float)), backoff_bins_);
  }
  // Prefetch for a probe that starts in this slot.
  void prefetch(std::uint32_t slot) const { __builtin_prefetch(bytes_ + slot * stride_); }
  // The slot of the child `word` of a node of the order below, or kNone. `slot` is where the probe starts.
  std::uint32_t find(std::uint32_t parent, std::uint32_t word, std::uint32_t slot) const {
    const auto wanted = ngram_key::make(parent, word);
    for (auto left = std::min<std::uint64_t>(n_slots_, kMostProbes); left > 0; --left) {
      const auto here = key(slot);
      if ((here & ~ngram_key::kFlags) == wanted) return slot;
      if (here == ngram_key::kEmpty) return kNone;
      if (++slot == n_slots_) slot = 0;
    }
    if (n_slots_ > kMostProbes) throw_damaged("the hash table of a language model has no free slot");
    return kNone;
  }

 private:
  static constexpr unsigned kFlagBits = 2;  // kExtendsRight and kBlank; a node with children extends to the left

  // The key as it is stored. A packed one is followed by bytes that do not belong to it.
  std::uint64_t stored_key(std::uint64_t slot) const {
    std::uint64_t key;
    std::memcpy(&key, bytes_ + slot * stride_, 8);
    return key;
  }
  static std::span<const float> bins(const float* values) { return {values, values ? 256U : 0U}; }
  std::uint64_t word_mask() const { return (std::uint64_t{1} << word_bits_) - 1; }
  std::uint64_t first_child(std::uint64_t slot) const {
    return (stored_key(slot) & ((std::uint64_t{1} << 8 * key_bytes_) - 1)) >> (word_bits_ + kFlagBits);
  }

  // Always finite, even in a damaged file; NaN becomes the lowest value. The order of the arguments matters.
  static float bounded(float log10) { return std::min(std::max(-kMost, log10), kMost); }
  static constexpr float kMost = 1e9F;
  static float value(const std::uint8_t* at, const float* bins) {
    if (bins) return bounded(bins[*at]);
    float value;
    std::memcpy(&value, at, sizeof value);
    return bounded(value);
  }

  const std::uint8_t* bytes_ = nullptr;
  std::size_t stride_ = 1;
  std::size_t key_bytes_ = 8;
  unsigned word_bits_ = 0;     // of a packed order
  bool has_children_ = false;  // of a packed order
  std::uint64_t n_slots_ = 0;
  const float* prob_bins_ = nullptr;
  const float* backoff_bins_ = nullptr;
};

// A view over a model's arrays; cheap to copy, safe to share. Words are numbers in the model's vocabulary, below
// n_words().
class NgramModel {
 public:
  static constexpr std::uint32_t kUnk = 0, kBos = 1, kEos = 2;
  static constexpr float kLn10 = 2.302585093F;

  explicit NgramModel(std::span<const NgramSlots> orders) : order_(static_cast<std::uint32_t>(orders.size())) {
    if (order_ < 1 || order_ > kMaxNgramOrder)
      throw Error("a language model needs an order from 1 to " + std::to_string(kMaxNgramOrder));
    for (std::uint32_t n = 0; n < order_; ++n)
      tables_[n] = NgramTable(orders[n], n + 1 == order_, n == 0 ? 0 : tables_[0].n_slots());
    if (n_words() <= kEos) throw Error("a language model needs the words <unk>, <s> and </s>");
    is_packed_ = order_ > 1 && tables_[1].is_packed();
    for (std::uint32_t n = 1; n < order_; ++n)
      if (tables_[n].is_packed() != is_packed_)
        throw Error("the arrays of the language model do not match: build the artefact again");
  }

  // Whether the n-grams are sorted instead of hashed.
  bool is_packed() const { return is_packed_; }
  // The slot of an n-gram without its oldest word, in the order below; n ≥ 2.
  std::uint32_t parent(std::uint32_t n, std::uint32_t slot) const {
    const auto& table = tables_[n - 1];
    const auto& below = tables_[n - 2];
    if (!is_packed_) return ngram_key::parent(table.key(slot));
    // The last node whose children begin at this slot or before.
    std::uint32_t begin = 0;
    for (auto size = static_cast<std::uint32_t>(below.n_slots()); size > 1;) {
      const auto half = size / 2;
      if (below.children(begin + half, table.n_slots()).begin <= slot) begin += half;
      size -= half;
    }
    return begin;
  }

  std::uint32_t order() const { return order_; }
  std::uint32_t n_words() const { return static_cast<std::uint32_t>(tables_[0].n_slots()); }
  // The n-grams of n words, 1 ≤ n ≤ order().
  const NgramTable& table(std::uint32_t n) const { return tables_[n - 1]; }

  std::uint32_t unk() const { return kUnk; }
  std::uint32_t eos() const { return kEos; }

  // No context.
  LmState null_state() const { return {}; }
  // The context <s>.
  LmState begin_state() const {
    LmState state;
    if (order_ == 1) return state;
    state.length = 1;
    state.words[0] = kBos;
    state.backoff[0] = tables_[0].backoff(kBos);
    return state;
  }

  // Whether the model has an n-gram that ends in these two words.
  bool has_bigram(std::uint32_t before, std::uint32_t word) const {
    if (order_ < 2 || !(tables_[0].key(word) & ngram_key::kExtendsLeft)) return false;
    NgramHash hash(word);
    hash.extend(before);
    return find_child(1, word, before, hash.home(tables_[1].n_slots())) != NgramTable::kNone;
  }
  // log p(word | in), natural log, for a word that forms no n-gram of the model with the previous word; `log10_prob` is
  // its unigram probability. The state after it equals that without context.
  static float back_off(float log10_prob, const LmState& in) {
    for (std::size_t k = 0; k < in.length; ++k) log10_prob += in.backoff[k];
    return log10_prob * kLn10;
  }
  // log p(word | in), natural log, and the state after the word. `out` must not be `in`, and must be new or a state of
  // this model.
  float score(const LmState& in, std::uint32_t word, LmState& out) const {
    bool extends_left;
    return score(in, word, out, extends_left);
  }
  // `extends_left` is true if a word before those of `in` could matter: the model has an n-gram of all of `in` and the
  // word, and a longer one that ends in it.
  float score(const LmState& in, std::uint32_t word, LmState& out, bool& extends_left) const {
    std::array<std::uint32_t, kMaxNgramOrder - 1> homes;  // of the n-grams of order 2, 3, …
    NgramHash hash(word);
    for (std::size_t k = 0; k < in.length && !is_packed_; ++k) {
      hash.extend(in.words[k]);
      homes[k] = hash.home(tables_[k + 1].n_slots());
      tables_[k + 1].prefetch(homes[k]);
    }
    std::uint8_t kept = 0, matched = 1;
    std::uint32_t node = word, oldest = word;
    auto key = tables_[0].key(word);
    float log10_prob = tables_[0].prob(word);
    for (;; ++matched) {
      const auto& table = tables_[matched - 1];
      if (matched < order_) {
        out.words[matched - 1] = oldest;
        out.backoff[matched - 1] = table.backoff(node);
        if (key & ngram_key::kExtendsRight) kept = matched;
      }
      if (matched > in.length || !(key & ngram_key::kExtendsLeft)) break;
      oldest = in.words[matched - 1];
      const auto& next = tables_[matched];
      const auto child = find_child(matched, node, oldest, homes[matched - 1]);
      if (child == NgramTable::kNone) break;
      node = child;
      key = next.key(node);
      log10_prob = next.prob(node);
    }
    for (std::size_t k = matched - 1U; k < in.length; ++k) log10_prob += in.backoff[k];
    extends_left = matched > in.length && key & ngram_key::kExtendsLeft;
    out.length = kept;
    for (std::size_t k = kept; k + 1 < order_; ++k) {
      out.words[k] = 0;
      out.backoff[k] = 0;
    }
    return log10_prob * kLn10;
  }

 private:
  // The child `word` of a node of n words, or kNone; `home` is where the probe of a hash table starts.
  std::uint32_t find_child(std::uint32_t n, std::uint32_t node, std::uint32_t word, std::uint32_t home) const {
    const auto& next = tables_[n];
    if (!is_packed_) return next.find(node, word, home);
    return next.find_packed(tables_[n - 1].children(node, next.n_slots()), word);
  }

  std::uint32_t order_;
  bool is_packed_;
  std::array<NgramTable, kMaxNgramOrder> tables_;
};

}  // namespace hyperbaton
