// The n-grams of one order in few bits, sorted by parent and oldest word: the children of a node are a range of slots.
//
// The children of a node are told apart by rank instead of by word: "a b c" is a child of "b c", and the rank of "a b"
// among the children of "b" tells it from the others (Pibiri and Venturini 2017). Most nodes have few children, so ranks
// are small. A query has them already: they are what the last query found, from the newest word to the oldest.
//
// 32 slots are a block. All values of a column take the same number of bits in a block, that of the largest; the values of
// a slot are next to each other, so that a query reads one place of each order, or two. In bytes, the lowest bit first:
//
//   PackedHeader
//   for each block: the width of each column, and its bases
//   the slots of all blocks
//   eight bytes that belong to nothing, so that any number can be read as one word
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>

#include "base/errors.hh"
#include "base/slices.hh"
#include "lm/ngram_slots.hh"

namespace hyperbaton {

static_assert(std::endian::native == std::endian::little, "numbers are read as stored");

// What an order begins with.
struct PackedHeader {
  static constexpr std::uint64_t kBlock = 32;  // slots
  // Columns: the rank among the children of the parent's context (words: none), less the least of the block; where the
  // children end (`PackedTable::Slot::children`); codes of the back-off weight; marks; and codes of the probability.
  enum Column : unsigned { kRank, kChildren, kBackoff, kMarks, kProb, kColumns };
  // What a block has, in whole bytes: the widths of its columns; the bias, which is added to the ends of children to make
  // them positive; the place of its slots, in units of kBlock bits; its least rank; and its first child.
  enum Base : unsigned { kPlace, kLeastRank, kFirstChild, kBases };
  // Marks: the n-gram matters as a context although its back-off weight is 0, or the reverse; it is a blank.
  static constexpr std::uint32_t kOddContext = 1, kBlank = 2;
  // Bits of a width or a bias, of all of them, of another base at most, and of rank and children together at most.
  static constexpr unsigned kWidthBits = 6, kWidthsBits = (kColumns + 1) * kWidthBits, kMostBaseBits = 32,
                            kMostKeyBits = 57;

  std::uint32_t n_slots, children_per_slot;
  std::uint32_t least_prob, least_backoff;  // codes without a list of values are floats as integers, less this
  std::array<std::uint8_t, kBases> base_bits;
  std::uint8_t unused;
};
static_assert(sizeof(PackedHeader) == 20);

// A view over the bytes of one order, and the lists of values that codes refer to.
class PackedTable {
  using enum PackedHeader::Column;
  using enum PackedHeader::Base;
  static constexpr auto kBlock = PackedHeader::kBlock;

 public:
  struct Range {
    std::uint64_t begin, end;
  };
  // Where a code is.
  struct Place {
    std::uint64_t bit;
    std::uint32_t width;
  };

  // One slot, and the form of its block.
  class Slot {
   public:
    std::uint64_t rank() const { return least_rank_ + (keys_ & mask(widths_[kRank])); }
    // The slots of its children in the next order. Nearly every node has children_per_slot children, so only the
    // difference from as many is stored.
    Range children() const {
      const auto first = table_->base(block_, kFirstChild);
      const auto end_after = [&](std::uint64_t n, std::uint64_t keys) {
        return first + n * table_->header_.children_per_slot + (keys >> widths_[kRank] & mask(widths_[kChildren])) - bias_;
      };
      return {i_ == 0 ? first : end_after(i_, table_->window(at_ - stride_)),
              std::min(end_after(i_ + 1, keys_), table_->n_children_)};
    }
    // The back-off weight, and whether the n-gram matters as a context.
    std::pair<float, bool> backoff() const {
      const auto code = table_->window(at_ + widths_[kRank] + widths_[kChildren]) & mask(widths_[kBackoff]);
      const float value = decode(code, table_->backoffs_, table_->header_.least_backoff);
      return {value, (value != 0) != has_mark(PackedHeader::kOddContext)};
    }
    bool is_blank() const { return has_mark(PackedHeader::kBlank); }
    float prob() const { return table_->prob(prob_place()); }
    Place prob_place() const { return {at_ + stride_ - widths_[kProb], widths_[kProb]}; }

   private:
    friend class PackedTable;

    bool has_mark(std::uint32_t mark_bit) const {
      if (widths_[kMarks] == 0) return false;
      const auto at = at_ + stride_ - widths_[kProb] - widths_[kMarks];
      return (table_->window(at) & mask(widths_[kMarks]) & mark_bit) != 0;
    }

    const PackedTable* table_;
    std::uint64_t block_ = kNoBlock, i_;  // and the slot within the block
    std::uint64_t block_at_, at_;         // first bits of the block's slots, and of the slot
    std::uint64_t keys_;                  // rank, children
    std::uint64_t least_rank_;
    std::array<std::uint32_t, kColumns> widths_;
    std::uint32_t stride_, bias_;
  };

  PackedTable() = default;
  PackedTable(const NgramSlots& slots, std::uint64_t n_children)
      : bytes_(slots.bytes.data()), n_children_(n_children), probs_(slots.prob_bins), backoffs_(slots.backoff_bins) {
    constexpr std::size_t unused = sizeof(std::uint64_t);
    bool fits = slots.bytes.size() >= sizeof(PackedHeader) + unused;
    if (fits) {
      std::memcpy(&header_, bytes_, sizeof header_);
      fits = header_.n_slots != NgramSlots::kNone;
      std::size_t bit = PackedHeader::kWidthsBits;
      for (unsigned k = 0; k < kBases; ++k) {
        const auto width = std::min<unsigned>(header_.base_bits[k], PackedHeader::kMostBaseBits);
        bases_[k] = {.byte = bit / 8, .shift = bit % 8, .mask = mask(width)};
        bit += width;
      }
      block_bytes_ = (bit + 7) / 8;
      n_bits_ = 8 * (slots.bytes.size() - unused);
      slots_at_ = 8 * (sizeof(PackedHeader) + (n_slots() + kBlock - 1) / kBlock * block_bytes_);
      fits &= slots_at_ <= n_bits_;
    }
    if (!fits) throw_mismatch();
  }

  std::uint64_t n_slots() const { return header_.n_slots; }
  Slot operator[](std::uint64_t number) const {
    Slot slot;
    open(number / kBlock, slot);
    go_to(number % kBlock, slot);
    return slot;
  }
  float prob(const Place& place) const { return decode(window(place.bit) & mask(place.width), probs_, header_.least_prob); }
  // Go to the slot of a rank in a range, and return its number; the end of the range if there is none.
  std::uint64_t find(const Range& range, std::uint64_t rank, Slot& slot) const {
    auto [begin, end] = range;
    // The blocks inside the range begin with their least ranks, which increase.
    const auto first = (begin + kBlock - 1) / kBlock, last = end / kBlock;
    if (first < last) {
      auto below = first;  // after the blocks that begin at or below the rank
      for (auto left = last - first; left > 0;) {
        const auto half = left / 2;
        const bool is_below = base(below + half, kLeastRank) <= rank;
        below += is_below ? half + 1 : 0;
        left = is_below ? left - half - 1 : half;
      }
      if (below < last) end = below * kBlock;
      if (below > first) begin = (below - 1) * kBlock;
    }
    slot.block_ = kNoBlock;
    while (begin < end) {
      const auto middle = begin + (end - begin) / 2;
      if (slot.block_ != middle / kBlock) open(middle / kBlock, slot);
      const auto here =
          slot.least_rank_ + (window(slot.block_at_ + middle % kBlock * slot.stride_) & mask(slot.widths_[kRank]));
      if (here == rank) {
        go_to(middle % kBlock, slot);
        return middle;
      }
      if (here < rank)
        begin = middle + 1;
      else
        end = middle;
    }
    return range.end;
  }

 private:
  static constexpr std::uint64_t kNoBlock = ~std::uint64_t{0};
  static constexpr auto kMasks = [] {
    std::array<std::uint64_t, 1U << PackedHeader::kWidthBits> masks{};
    for (unsigned width = 0; width < masks.size(); ++width) masks[width] = (std::uint64_t{1} << width) - 1;
    return masks;
  }();

  // One of the bases of a block: where it is in the block's bytes.
  struct Field {
    std::size_t byte, shift;
    std::uint64_t mask;
  };

  static std::uint64_t mask(unsigned width) { return kMasks[width]; }
  static float decode(std::uint64_t code, std::span<const float> values, std::uint32_t least) {
    if (values.empty()) return bounded_log10(std::bit_cast<float>(static_cast<std::uint32_t>(least + code)));
    if (code >= values.size()) [[unlikely]]
      throw_damaged("a value of a language model is out of range");
    return bounded_log10(values[code]);
  }
  static std::uint64_t word_at(const std::uint8_t* at) {
    std::uint64_t word;
    std::memcpy(&word, at, sizeof word);
    return word;
  }
  // At least 57 bits.
  std::uint64_t window(std::uint64_t bit) const { return word_at(bytes_ + bit / 8) >> bit % 8; }
  const std::uint8_t* block_at(std::uint64_t block) const { return bytes_ + sizeof(PackedHeader) + block * block_bytes_; }
  std::uint64_t base(std::uint64_t block, PackedHeader::Base which) const {
    const auto& field = bases_[which];
    return word_at(block_at(block) + field.byte) >> field.shift & field.mask;
  }
  void open(std::uint64_t block, Slot& slot) const {
    slot.table_ = this;
    slot.block_ = block;
    auto widths = word_at(block_at(block));
    const auto next = [&] {
      const auto width = widths % kMasks.size();
      widths /= kMasks.size();
      return static_cast<std::uint32_t>(width);
    };
    slot.stride_ = 0;
    for (auto& width : slot.widths_) slot.stride_ += width = next();
    slot.bias_ = next();
    slot.least_rank_ = base(block, kLeastRank);
    slot.block_at_ = slots_at_ + kBlock * base(block, kPlace);
    if (slot.block_at_ + kBlock * slot.stride_ > n_bits_) [[unlikely]]
      throw_damaged("the n-grams of a language model are out of range");
  }
  // Go to another slot of the same block.
  void go_to(std::uint64_t i, Slot& slot) const {
    slot.i_ = i;
    slot.at_ = slot.block_at_ + i * slot.stride_;
    slot.keys_ = window(slot.at_);
  }

  const std::uint8_t* bytes_ = nullptr;
  std::uint64_t n_bits_ = 0, slots_at_ = 0, n_children_ = 0;
  PackedHeader header_{};
  std::size_t block_bytes_ = 0;
  std::array<Field, PackedHeader::kBases> bases_{};
  std::span<const float> probs_, backoffs_;
};

}  // namespace hyperbaton
