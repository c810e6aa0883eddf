// n-gram probabilities with back-off.
//
// An n-gram is a node of a trie that grows from the newest word to the oldest: the node of "a b c" is the child "a" of
// the node of "b c", which is the child "b" of the word "c". A child is found by hashing (parent, word), an exact 64-bit
// key, so two n-grams are never confused. One query is one walk: the deepest node on the path c, b, a … contains the
// probability, and the nodes on the path contain the back-off weights of the contexts that end in c, which the next query
// needs.
//
// The n-grams of a packed model (`packed_table.hh`) are sorted instead of hashed, so a child is found by bisection. They
// take a fifth to a quarter of the memory, and queries more time.
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
#include <utility>

#include "base/errors.hh"
#include "base/hash.hh"
#include "base/slices.hh"
#include "lm/ngram_slots.hh"
#include "lm/packed_table.hh"

namespace hyperbaton {

inline constexpr std::uint32_t kMaxNgramOrder = 9;

// The words before the next one, newest first, as far as the model can distinguish them. Words beyond `length` are zero,
// so that states are equal exactly if every continuation has the same probability for both, as far as the model knows.
// A packed model has, instead of every word but the newest, its rank among the words that precede the newer ones.
struct LmState {
  std::array<std::uint32_t, kMaxNgramOrder - 1> words{};
  std::array<float, kMaxNgramOrder - 1> backoff{};  // of the newest 1, 2, … words as context; log10, determined by words
  std::uint8_t length = 0;

  bool operator==(const LmState& other) const { return length == other.length && words == other.words; }
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

// The slots of one order of a hashed model, by number. A slot is an 8-byte key, the probability and, unless the order is
// the highest, the back-off weight; both are log10, floats or, with bins, one-byte bin numbers.
class NgramTable {
 public:
  static constexpr std::uint32_t kNone = NgramSlots::kNone;

  NgramTable() = default;
  NgramTable(const NgramSlots& slots, bool highest)
      : bytes_(slots.bytes.data()),
        stride_(slots.stride),
        prob_bins_(slots.prob_bins.empty() ? nullptr : slots.prob_bins.data()),
        backoff_bins_(slots.backoff_bins.empty() ? nullptr : slots.backoff_bins.data()) {
    const auto fits = [&](std::span<const float> bins) { return bins.size() == (prob_bins_ ? 256 : 0); };
    if (stride_ != kKeyBytes + (highest ? 1 : 2) * value_size() || slots.bytes.size() % stride_ != 0 ||
        slots.bytes.size() / stride_ >= kNone || !fits(slots.prob_bins) ||
        !(highest ? slots.backoff_bins.empty() : fits(slots.backoff_bins)))
      throw_mismatch();
    n_slots_ = slots.bytes.size() / stride_;
  }

  std::uint64_t n_slots() const { return n_slots_; }
  std::uint64_t key(std::uint32_t slot) const {
    std::uint64_t key;
    std::memcpy(&key, bytes_ + slot * stride_, kKeyBytes);
    return key;
  }
  // Whether the slot contains an n-gram of the model.
  bool is_ngram(std::uint32_t slot) const {
    const auto here = key(slot);
    return here != ngram_key::kEmpty && !(here & ngram_key::kBlank);
  }
  float prob(std::uint32_t slot) const { return value(bytes_ + slot * stride_ + kKeyBytes, prob_bins_); }
  float backoff(std::uint32_t slot) const {
    return value(bytes_ + slot * stride_ + kKeyBytes + value_size(), backoff_bins_);
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
  static constexpr std::size_t kKeyBytes = 8;

  std::size_t value_size() const { return prob_bins_ ? 1 : sizeof(float); }
  static float value(const std::uint8_t* at, const float* bins) {
    if (bins) return bounded_log10(bins[*at]);
    float value;
    std::memcpy(&value, at, sizeof value);
    return bounded_log10(value);
  }

  const std::uint8_t* bytes_ = nullptr;
  std::size_t stride_ = 1;
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
    is_packed_ = orders[0].is_packed();
    for (auto n = order_; n-- > 0;) {
      const bool highest = n + 1 == order_;
      if (orders[n].is_packed() != is_packed_) throw_mismatch();
      if (is_packed_)
        packed_[n] = PackedTable(orders[n], highest ? 0 : packed_[n + 1].n_slots());
      else
        tables_[n] = NgramTable(orders[n], highest);
    }
    if (n_words() <= kEos) throw Error("a language model needs the words <unk>, <s> and </s>");
  }

  // Whether the n-grams are sorted instead of hashed.
  bool is_packed() const { return is_packed_; }
  std::uint32_t order() const { return order_; }
  std::uint32_t n_words() const { return static_cast<std::uint32_t>(n_slots(1)); }
  // The n-grams of n words, 1 ≤ n ≤ order(), in the form that the model has.
  const NgramTable& table(std::uint32_t n) const { return tables_[n - 1]; }
  const PackedTable& packed_table(std::uint32_t n) const { return packed_[n - 1]; }
  std::uint64_t n_slots(std::uint32_t n) const { return is_packed_ ? packed_table(n).n_slots() : table(n).n_slots(); }
  // Whether a slot contains an n-gram of the model.
  bool is_ngram(std::uint32_t n, std::uint32_t slot) const {
    return is_packed_ ? !packed_table(n)[slot].is_blank() : table(n).is_ngram(slot);
  }
  std::size_t count_ngrams(std::uint32_t n) const {
    std::size_t count = 0;
    for (std::uint32_t slot = 0; slot < n_slots(n); ++slot) count += is_ngram(n, slot) ? 1 : 0;
    return count;
  }

  std::uint32_t eos() const { return kEos; }
  // log10 p(word), without context.
  float log10_prob(std::uint32_t word) const { return is_packed_ ? packed_table(1)[word].prob() : table(1).prob(word); }

  // No context.
  LmState null_state() const { return {}; }
  // The context <s>.
  LmState begin_state() const {
    LmState state;
    if (order_ == 1) return state;
    state.length = 1;
    state.words[0] = kBos;
    state.backoff[0] = is_packed_ ? packed_table(1)[kBos].backoff().first : table(1).backoff(kBos);
    return state;
  }

  // Whether the model has an n-gram that ends in these two words.
  bool has_bigram(std::uint32_t before, std::uint32_t word) const {
    if (order_ < 2) return false;
    LmState in;
    in.length = 1;
    in.words[0] = before;
    return is_packed_ ? PackedNode(*this, word).descend(in) : HashedNode(*this, word, in).descend(in);
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
    return is_packed_ ? walk(PackedNode(*this, word), in, out, extends_left)
                      : walk(HashedNode(*this, word, in), in, out, extends_left);
  }

 private:
  // The node of a word, and of longer n-grams as words before it are added.
  class HashedNode {
   public:
    HashedNode(const NgramModel& model, std::uint32_t word, const LmState& in)
        : tables_(model.tables_.data()), node_(word), word_(word), key_(tables_[0].key(word)) {
      NgramHash hash(word);
      for (std::size_t k = 0; k < in.length; ++k) {
        hash.extend(in.words[k]);
        homes_[k] = hash.home(tables_[k + 1].n_slots());
        tables_[k + 1].prefetch(homes_[k]);
      }
    }
    std::uint32_t n() const { return n_; }        // words
    std::uint32_t word() const { return word_; }  // the oldest one, as in an LmState
    float prob() const { return tables_[n_ - 1].prob(node_); }
    // The back-off weight, and whether the n-gram matters as a context.
    std::pair<float, bool> backoff() const {
      return {tables_[n_ - 1].backoff(node_), (key_ & ngram_key::kExtendsRight) != 0};
    }
    bool extends_left() const { return (key_ & ngram_key::kExtendsLeft) != 0; }
    // Add the next word of a state; false if there is no such n-gram.
    bool descend(const LmState& in) {
      if (!extends_left()) return false;
      const auto word = in.words[n_ - 1];
      const auto child = tables_[n_].find(node_, word, homes_[n_ - 1]);
      if (child == NgramTable::kNone) return false;
      node_ = child;
      word_ = word;
      key_ = tables_[n_++].key(node_);
      return true;
    }

   private:
    const NgramTable* tables_;
    std::uint32_t n_ = 1, node_, word_;
    std::uint64_t key_;
    std::array<std::uint32_t, kMaxNgramOrder - 1> homes_;  // of the n-grams of order 2, 3, …
  };

  class PackedNode {
   public:
    PackedNode(const NgramModel& model, std::uint32_t word)
        : tables_(model.packed_.data()), word_(word), slot_(tables_[0][word]), prob_(slot_.prob_place()) {}
    std::uint32_t n() const { return n_; }
    std::uint32_t word() const { return word_; }
    float prob() const { return tables_[n_ - 1].prob(prob_); }
    std::pair<float, bool> backoff() const { return slot_.backoff(); }
    bool extends_left() const {
      const auto children = slot_.children();
      return children.begin < children.end;
    }
    // After a failure only the probability can be asked for.
    bool descend(const LmState& in) {
      const auto children = slot_.children();
      const auto child = tables_[n_].find(children, in.words[n_ - 1], slot_);
      if (child >= children.end) return false;
      word_ = static_cast<std::uint32_t>(child - children.begin);
      prob_ = slot_.prob_place();
      ++n_;
      return true;
    }

   private:
    const PackedTable* tables_;
    std::uint32_t n_ = 1, word_;
    PackedTable::Slot slot_;
    PackedTable::Place prob_;
  };

  template <class Node>
  float walk(Node node, const LmState& in, LmState& out, bool& extends_left) const {
    std::uint8_t kept = 0;
    do {
      const auto n = node.n();
      if (n == order_) break;
      out.words[n - 1] = node.word();
      const auto [backoff, matters] = node.backoff();
      out.backoff[n - 1] = backoff;
      if (matters) kept = static_cast<std::uint8_t>(n);
    } while (node.n() <= in.length && node.descend(in));
    float log10_prob = node.prob();
    for (std::size_t k = node.n() - 1U; k < in.length; ++k) log10_prob += in.backoff[k];
    extends_left = node.n() > in.length && node.extends_left();
    out.length = kept;
    for (std::size_t k = kept; k + 1 < order_; ++k) {
      out.words[k] = 0;
      out.backoff[k] = 0;
    }
    return log10_prob * kLn10;
  }

  std::uint32_t order_;
  bool is_packed_;
  std::array<NgramTable, kMaxNgramOrder> tables_;
  std::array<PackedTable, kMaxNgramOrder> packed_;
};

}  // namespace hyperbaton
