#include "lm/packed_ngrams.hh"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <utility>

#include "lm/packed_table.hh"

namespace hyperbaton {

bool WordPairs::allow(std::uint32_t before, std::uint32_t word) const {
  return (last[before] != 0 && first[word] != 0) ||
         std::ranges::binary_search(inside, static_cast<std::uint64_t>(before) << 32 | word);
}

namespace {

using Numbers = std::vector<std::uint32_t>;

std::uint32_t bits_of(std::uint64_t number) { return static_cast<std::uint32_t>(std::bit_width(number)); }

std::size_t n_blocks(std::size_t n) { return (n + PackedHeader::kBlock - 1) / PackedHeader::kBlock; }

// The block of a column's values.
std::span<const std::uint32_t> block_of(const Numbers& column, std::size_t block) {
  return std::span(column).subspan(
      block * PackedHeader::kBlock,
      std::min<std::size_t>(PackedHeader::kBlock, column.size() - block * PackedHeader::kBlock));
}

// Bits of a column's values.
std::size_t bits_of(const Numbers& column) {
  std::size_t bits = 0;
  for (std::size_t b = 0; b < n_blocks(column.size()); ++b)
    bits += PackedHeader::kBlock * bits_of(std::ranges::max(block_of(column, b)));
  return bits;
}

// A column of values: the numbers of distinct values, the most frequent first, or floats as integers, less the least.
struct Codes {
  Numbers codes;
  std::uint32_t least = 0;
  std::vector<float> values;

  // Whichever takes fewer bits.
  explicit Codes(const std::vector<float>& floats) {
    Numbers plain;
    for (const auto value : floats) plain.push_back(std::bit_cast<std::uint32_t>(value));
    Numbers sorted = plain;
    std::ranges::sort(sorted);
    std::vector<std::pair<std::size_t, std::uint32_t>> counts;  // of the distinct values
    for (const auto value : sorted) {
      if (counts.empty() || counts.back().second != value) counts.emplace_back(0, value);
      ++counts.back().first;
    }
    if (!sorted.empty()) least = sorted.front();
    for (const auto value : plain) codes.push_back(value - least);
    if (counts.size() > floats.size() / 2) return;
    std::ranges::sort(counts, [](const auto& a, const auto& b) { return a.first != b.first ? a.first > b.first : a < b; });
    Numbers places(counts.size()), numbers;
    sorted.clear();
    for (const auto& [count, value] : counts) sorted.push_back(value);
    for (std::uint32_t i = 0; i < places.size(); ++i) places[i] = i;
    std::ranges::sort(places, {}, [&](std::uint32_t i) { return sorted[i]; });
    for (const auto value : plain)
      numbers.push_back(*std::ranges::lower_bound(places, value, {}, [&](std::uint32_t i) { return sorted[i]; }));
    if (bits_of(numbers) + 32 * sorted.size() >= bits_of(codes)) return;
    codes = std::move(numbers);
    for (const auto value : sorted) values.push_back(std::bit_cast<float>(value));
  }
};

class BitWriter {
 public:
  BitWriter(std::vector<std::uint8_t>& bytes, std::size_t n_bits) : bytes_(bytes), bit_(8 * bytes.size()) {
    bytes.resize(bytes.size() + (n_bits + 7) / 8 + sizeof(std::uint64_t));
  }
  // Numbers of at most 32 bits.
  void put(std::uint64_t number, std::uint32_t width) {
    std::uint64_t window;
    std::memcpy(&window, bytes_.data() + bit_ / 8, sizeof window);
    window |= number << bit_ % 8;
    std::memcpy(bytes_.data() + bit_ / 8, &window, sizeof window);
    bit_ += width;
  }
  void skip_to(std::size_t bit) { bit_ = bit; }

 private:
  std::vector<std::uint8_t>& bytes_;
  std::size_t bit_;
};

// Packs the columns of one order.
class TablePacker {
  using enum PackedHeader::Column;
  using enum PackedHeader::Base;
  static constexpr auto kBlock = PackedHeader::kBlock;

 public:
  TablePacker(Numbers ranks, std::span<const std::uint32_t> first, const std::vector<float>& probs,
              const std::vector<float>& backoffs, Numbers marks)
      : n_(probs.size()),
        n_blocks_(n_blocks(n_)),
        probs_(probs),
        backoffs_(backoffs),
        blocks_(n_blocks_),
        header_{.n_slots = static_cast<std::uint32_t>(n_),
                .children_per_slot = first.empty() ? 0U : 1U,
                .least_prob = probs_.least,
                .least_backoff = backoffs_.least,
                .base_bits = {},
                .unused = 0} {
    columns_ = {std::move(ranks), Numbers(n_), std::move(backoffs_.codes), std::move(marks), std::move(probs_.codes)};
    for (std::size_t b = 0; b < n_blocks_; ++b) {
      take_bases(b, first);
      measure(b);
    }
  }

  NgramArrays pack() {
    NgramArrays result{.bytes = std::vector<std::uint8_t>(sizeof header_),
                       .stride = 1,
                       .prob_bins = std::move(probs_.values),
                       .backoff_bins = std::move(backoffs_.values)};
    std::memcpy(result.bytes.data(), &header_, sizeof header_);
    std::size_t block_bits = PackedHeader::kWidthsBits;
    for (const auto bits : header_.base_bits) block_bits += bits;
    block_bits = (block_bits + 7) / 8 * 8;
    BitWriter writer(result.bytes, n_blocks_ * block_bits + kBlock * place_);
    const auto start = 8 * sizeof header_;
    for (std::size_t b = 0; b < n_blocks_; ++b) {
      writer.skip_to(start + b * block_bits);
      for (const auto width : blocks_[b].widths) writer.put(width, PackedHeader::kWidthBits);
      writer.put(blocks_[b].bias, PackedHeader::kWidthBits);
      for (unsigned k = 0; k < kBases; ++k) writer.put(blocks_[b].bases[k], header_.base_bits[k]);
    }
    const auto slots_at = start + n_blocks_ * block_bits;
    for (std::size_t b = 0; b < n_blocks_; ++b) {
      writer.skip_to(slots_at + kBlock * blocks_[b].bases[kPlace]);
      for (auto i = b * kBlock; i < std::min(n_, (b + 1) * kBlock); ++i)
        for (unsigned c = 0; c < kColumns; ++c) writer.put(columns_[c][i], blocks_[b].widths[c]);
    }
    return result;
  }

 private:
  struct Block {
    std::array<std::uint32_t, kColumns> widths;
    std::uint32_t bias;
    std::array<std::uint32_t, kBases> bases;
  };

  void take_bases(std::size_t b, std::span<const std::uint32_t> first) {
    const auto begin = b * kBlock, end = std::min(n_, begin + kBlock);
    auto& [widths, bias, bases] = blocks_[b];
    bases[kLeastRank] = std::ranges::min(block_of(columns_[kRank], b));
    for (auto i = begin; i < end; ++i) columns_[kRank][i] -= bases[kLeastRank];
    if (first.empty()) return;
    // How far the ends are after or before those of a block with one child for each slot.
    bases[kFirstChild] = first[begin];
    const auto surplus = [&](std::size_t i) {
      return static_cast<std::int64_t>(first[i + 1] - first[begin]) - static_cast<std::int64_t>(i + 1 - begin);
    };
    for (auto i = begin; i < end; ++i)
      bias = std::max(bias, static_cast<std::uint32_t>(std::max<std::int64_t>(0, -surplus(i))));
    for (auto i = begin; i < end; ++i) columns_[kChildren][i] = static_cast<std::uint32_t>(surplus(i) + bias);
  }

  void measure(std::size_t b) {
    auto& block = blocks_[b];
    block.bases[kPlace] = static_cast<std::uint32_t>(place_);
    for (unsigned c = 0; c < kColumns; ++c) {
      block.widths[c] = bits_of(std::ranges::max(block_of(columns_[c], b)));
      place_ += block.widths[c];
    }
    if (place_ > std::numeric_limits<std::uint32_t>::max() ||
        block.widths[kRank] + block.widths[kChildren] > PackedHeader::kMostKeyBits)
      throw Error("the language model has too many n-grams to be packed");
    for (unsigned k = 0; k < kBases; ++k)
      header_.base_bits[k] = std::max(header_.base_bits[k], static_cast<std::uint8_t>(bits_of(block.bases[k])));
  }

  std::size_t n_, n_blocks_, place_ = 0;
  Codes probs_, backoffs_;
  std::array<Numbers, kColumns> columns_;
  std::vector<Block> blocks_;
  PackedHeader header_;
};

class Packer {
 public:
  Packer(const NgramModel& model, const WordPairs* pairs) : model_(model), pairs_(pairs) {
    for (std::uint32_t word = 0; word < model.n_words(); ++word) here_.slots.push_back(word);
    here_.words = here_.contexts = here_.slots;
    here_.ranks.resize(model.n_words());
  }

  std::vector<NgramArrays> pack() {
    std::vector<NgramArrays> result;
    for (std::uint32_t n = 1; n <= model_.order(); ++n) {
      auto above = n < model_.order() ? kept(n + 1) : Ngrams{};
      if (n < model_.order()) find_contexts(n + 1, above);
      result.push_back(packed(n, above.first));
      here_ = std::move(above);
    }
    return result;
  }

 private:
  // The n-grams of one order that are kept, in the order of the packed table.
  struct Ngrams {
    Numbers slots;     // in the model
    Numbers words;     // the oldest ones
    Numbers contexts;  // without their newest words: numbers in the order below
    Numbers ranks;     // of the contexts among their siblings
    Numbers first;     // the first child of each n-gram of the order below, and the number of n-grams
  };

  // Those of order n, given those of the order below.
  Ngrams kept(std::uint32_t n) const {
    const auto& table = model_.table(n);
    const auto& below = model_.table(n - 1);
    Numbers numbers(below.n_slots(), NgramTable::kNone);
    for (std::uint32_t i = 0; i < here_.slots.size(); ++i) numbers[here_.slots[i]] = i;
    std::vector<std::pair<std::uint64_t, std::uint32_t>> entries;
    for (std::uint32_t slot = 0; slot < table.n_slots(); ++slot) {
      const auto key = table.key(slot);
      if (key == ngram_key::kEmpty) continue;
      const auto parent = ngram_key::parent(key);
      if (parent >= numbers.size()) throw_damaged("an n-gram of the language model has no parent");
      const auto word = ngram_key::word(key), next = ngram_key::word(below.key(parent));
      if (std::max(word, next) >= model_.n_words()) throw_damaged("an n-gram of the language model has an unknown word");
      if (numbers[parent] == NgramTable::kNone || (pairs_ && !pairs_->allow(word, next))) continue;
      entries.emplace_back(ngram_key::make(numbers[parent], word), slot);
    }
    std::ranges::sort(entries);
    Ngrams above;
    above.first.resize(here_.slots.size() + 1);
    for (const auto& [key, slot] : entries) {
      above.slots.push_back(slot);
      above.words.push_back(ngram_key::word(key));
      ++above.first[ngram_key::parent(key) + 1];
    }
    for (std::size_t i = 1; i < above.first.size(); ++i) above.first[i] += above.first[i - 1];
    return above;
  }

  // The context of a child is the one with the same oldest word among the children of its parent's context.
  void find_contexts(std::uint32_t n, Ngrams& above) const {
    for (std::size_t parent = 0; parent + 1 < above.first.size(); ++parent) {
      for (auto i = above.first[parent]; i < above.first[parent + 1]; ++i) {
        const auto word = above.words[i];
        const auto begin = n == 2 ? 0 : here_.first[here_.contexts[parent]];
        const auto end = n == 2 ? model_.n_words() : here_.first[here_.contexts[parent] + 1];
        const auto found = std::lower_bound(here_.words.begin() + begin, here_.words.begin() + end, word);
        const auto context = static_cast<std::uint32_t>(found - here_.words.begin());
        if (context == end || *found != word) throw_damaged("an n-gram of the language model has no context");
        above.contexts.push_back(context);
        above.ranks.push_back(context - begin);
      }
    }
  }

  NgramArrays packed(std::uint32_t n, const Numbers& first) {
    const auto& table = model_.table(n);
    const bool highest = n == model_.order();
    std::vector<float> probs, backoffs;
    Numbers marks;
    for (const auto slot : here_.slots) {
      const auto key = table.key(slot);
      probs.push_back(table.prob(slot));
      backoffs.push_back(highest ? 0 : table.backoff(slot));
      marks.push_back((key & ngram_key::kBlank ? PackedHeader::kBlank : 0));
      if (!highest && (backoffs.back() != 0) != ((key & ngram_key::kExtendsRight) != 0))
        marks.back() |= PackedHeader::kOddContext;
    }
    return TablePacker(std::move(here_.ranks), first, probs, backoffs, std::move(marks)).pack();
  }

  const NgramModel& model_;
  const WordPairs* pairs_;
  Ngrams here_;
};

}  // namespace

std::vector<NgramArrays> pack_ngrams(const NgramModel& model, const WordPairs* pairs) {
  if (pairs && (pairs->last.size() != model.n_words() || pairs->first.size() != model.n_words()))
    throw Error("there must be two flags for each word of the language model");
  return Packer(model, pairs).pack();
}

}  // namespace hyperbaton
