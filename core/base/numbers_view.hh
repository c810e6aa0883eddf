// Columns of whole numbers in memory: plain arrays, or packed into few bits each.
//
// Most packed numbers take the same number of bits. Those with more bits are few, and stored separately with their rows:
// their low bits are all ones. Or they are marked, and their further bits are in a separate level, up to three times
// (Brisaboa et al. 2013, directly addressable codes). If that is smaller, 64 consecutive numbers are stored as the
// differences from the least of them, their base. In words of 64 bits, the lowest bit first:
//
//   the number of numbers
//   the number of large ones
//   the bits of a number, of a row, of a large one, of a base, and of a number of each further level, a byte each
//   the numbers, the rows, which increase, the large numbers, and the bases if they have any bits, each in whole words
//   for each further level: the number of its numbers; a mark for each number of the level before; the number of marks
//   before each 256, in 32 bits; the numbers
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "base/slices.hh"

namespace hyperbaton {

static_assert(std::endian::native == std::endian::little, "numbers are read as stored");

// Numbers of `width` bits, one after the other.
class BitColumn {
 public:
  BitColumn() = default;
  BitColumn(const void* bytes, std::size_t n, unsigned width)
      : bytes_(static_cast<const std::uint8_t*>(bytes)),
        n_(n),
        n_bytes_((n * width + 7) / 8),
        mask_(width < 64 ? (std::uint64_t{1} << width) - 1 : ~std::uint64_t{0}),
        width_(width) {}

  std::size_t size() const { return n_; }
  unsigned width() const { return width_; }
  std::uint64_t mask() const { return mask_; }
  const std::uint8_t* bytes() const { return bytes_; }
  // The widths are at most 32, or 64, so that 8 bytes contain any number.
  std::uint64_t operator[](std::size_t i) const {
    const std::size_t bit = i * width_, at = bit / 8;
    std::uint64_t window = 0;
    std::memcpy(&window, bytes_ + at, at + sizeof window <= n_bytes_ ? sizeof window : n_bytes_ - at);
    return window >> bit % 8 & mask_;
  }

 private:
  const std::uint8_t* bytes_ = nullptr;
  std::size_t n_ = 0, n_bytes_ = 0;
  std::uint64_t mask_ = 0;
  unsigned width_ = 0;
};

struct IndexRange {
  std::size_t first, last;
  std::size_t size() const { return last - first; }
};

// The numbers of a further level, and the marks of the level before, which say whose high bits they are.
struct HighBits {
  static constexpr std::size_t kBlock = 256;  // marks whose rank is stored

  BitColumn marks, ranks, numbers;

  bool has(std::size_t i) const { return marks[i] != 0; }
  // The number of marks before this one.
  std::size_t rank(std::size_t i) const {
    auto n = static_cast<std::size_t>(ranks[i / kBlock]);
    std::uint64_t word;
    for (auto at = i / kBlock * kBlock; at < i; at += 64) {
      std::memcpy(&word, marks.bytes() + at / 8, sizeof word);
      n += static_cast<std::size_t>(std::popcount(i - at < 64 ? word & ((std::uint64_t{1} << (i - at)) - 1) : word));
    }
    return n;
  }
};

class NumbersView {
 public:
  NumbersView() = default;
  template <class T>
  NumbersView(std::span<const T> plain) : small_(plain.data(), plain.size(), 8 * sizeof(T)) {}
  // Packed numbers; throws if the words are damaged.
  static NumbersView packed(std::span<const std::uint64_t> words);

  // Numbers with the same base.
  static constexpr std::size_t kBlock = 64;
  // Further levels, at most.
  static constexpr unsigned kLevels = 3;

  std::size_t size() const { return small_.size(); }
  std::uint64_t operator[](std::size_t i) const {
    if (i >= small_.size()) [[unlikely]]
      throw_damaged("a number is out of range");
    auto number = small_[i];
    if (n_levels_ > 0) {
      number |= high_bits(i);
    } else if (number == small_.mask() && rows_.size() > 0) {
      number = large_at(i, number);
    }
    return bases_.size() > 0 ? number + bases_[i / kBlock] : number;
  }
  // Of numbers in increasing order, the place of the first that is at least this; the end of the range if there is none.
  std::size_t lower_bound(IndexRange range, std::uint64_t least) const {
    while (range.first < range.last) {
      const auto middle = range.first + range.size() / 2;
      if ((*this)[middle] < least)
        range.first = middle + 1;
      else
        range.last = middle;
    }
    return range.first;
  }
  // The array of plain numbers of 32 bits; empty for others.
  std::span<const std::uint32_t> plain() const {
    if (small_.width() != 32 || rows_.size() > 0 || n_levels_ > 0 || bases_.size() > 0) return {};
    return {reinterpret_cast<const std::uint32_t*>(small_.bytes()), small_.size()};
  }

 private:
  std::uint64_t large_at(std::size_t i, std::uint64_t otherwise) const {
    std::size_t first = 0, last = rows_.size();
    while (first < last) {
      const auto middle = first + (last - first) / 2;
      if (rows_[middle] < i)
        first = middle + 1;
      else
        last = middle;
    }
    return first < rows_.size() && rows_[first] == i ? large_[first] : otherwise;
  }

  std::uint64_t high_bits(std::size_t i) const {
    std::uint64_t bits = 0;
    auto shift = small_.width();
    for (unsigned k = 0; k < n_levels_ && levels_[k].has(i); ++k) {
      i = levels_[k].rank(i);
      if (i >= levels_[k].numbers.size()) [[unlikely]]
        throw_damaged("a number is out of range");
      bits |= levels_[k].numbers[i] << shift;
      shift += levels_[k].numbers.width();
    }
    return bits;
  }

  BitColumn small_, rows_, large_, bases_;
  std::array<HighBits, kLevels> levels_;
  unsigned n_levels_ = 0;
};

// Row i of values whose offsets may be packed: values[offsets[i] .. offsets[i+1]).
inline IndexRange range_of(const NumbersView& offsets, std::size_t i, std::size_t n_values) {
  const auto first = offsets[i], last = offsets[i + 1];
  if (first > last || last > n_values) [[unlikely]]
    throw_damaged("offsets do not match the values");
  return {first, last};
}

// Pack numbers into the fewest bits.
std::vector<std::uint64_t> pack_numbers(std::span<const std::uint32_t> numbers);

}  // namespace hyperbaton
