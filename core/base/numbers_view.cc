#include "base/numbers_view.hh"

#include <tuple>

namespace hyperbaton {

namespace {

constexpr std::size_t kHeader = 3;

std::size_t n_words(std::size_t n, unsigned width) { return (n * width + 63) / 64; }

std::size_t n_blocks(std::size_t n) { return (n + NumbersView::kBlock - 1) / NumbersView::kBlock; }

unsigned bits_of(std::uint64_t number) { return static_cast<unsigned>(std::bit_width(number)); }

void write_bits(std::span<const std::uint64_t> numbers, unsigned width, std::vector<std::uint64_t>& words) {
  const auto begin = words.size();
  words.resize(begin + n_words(numbers.size(), width), 0);
  for (std::size_t i = 0; i < numbers.size() && width > 0; ++i) {
    const std::size_t bit = i * width, at = begin + bit / 64, shift = bit % 64;
    words[at] |= numbers[i] << shift;
    if (shift + width > 64) words[at + 1] |= numbers[i] >> (64 - shift);
  }
}

// How to store numbers in the fewest bits.
struct Widths {
  unsigned number = 0, row = 0, large = 0;
  std::array<unsigned, NumbersView::kLevels> levels{};
  std::size_t n_bits = 0;

  explicit Widths(std::span<const std::uint32_t> numbers) : row(bits_of(numbers.size())) {
    std::array<std::size_t, 33> n_of_width{};
    for (const auto each : numbers) ++n_of_width[bits_of(each)];
    large = 32;
    while (large > 0 && n_of_width[large] == 0) --large;
    number = large;
    n_bits = numbers.size() * large;
    std::size_t n_large = 0;
    for (unsigned width = large; width > 0; --width) {
      n_large += n_of_width[width];
      if (const auto n = numbers.size() * (width - 1) + n_large * (row + large); n < n_bits) {
        n_bits = n;
        number = width - 1;
      }
    }
    // The numbers with more bits than each width; then the least bits from a width on, by the number of levels.
    std::array<std::size_t, 33> n_wider{};
    for (unsigned width = 32; width > 0; --width) n_wider[width - 1] = n_wider[width] + n_of_width[width];
    struct Choice {
      std::size_t n_bits;
      unsigned width;
    };
    std::array<std::array<Choice, 33>, NumbersView::kLevels + 1> best{};
    for (std::size_t more = 0; more < best.size(); ++more)
      for (unsigned from = 0; from < large; ++from) {
        const auto n = from > 0 ? n_wider[from] : numbers.size();
        best[more][from] = {n * (large - from), large - from};
        for (unsigned to = from + 1; more > 0 && to < large; ++to)
          if (const auto all = n * (to - from) + n * 9 / 8 + kLevelBits + best[more - 1][to].n_bits;
              all < best[more][from].n_bits)
            best[more][from] = {all, to - from};
      }
    if (best.back()[0].n_bits >= n_bits) return;
    n_bits = best.back()[0].n_bits;
    number = best.back()[0].width;
    for (unsigned k = 0, from = number; from < large; from += levels[k++])
      levels[k] = best[NumbersView::kLevels - 1 - k][from].width;
    row = large = 0;
  }

 private:
  static constexpr std::size_t kLevelBits = 5 * 64;  // of a level's size and of incomplete words
};

// Append a further level: the bits of these numbers from a place on, of those that have any; returns these.
std::vector<std::uint64_t> write_level(std::span<const std::uint64_t> numbers, unsigned from, unsigned width,
                                       std::vector<std::uint64_t>& words) {
  std::vector<std::uint64_t> marks, ranks, larger, bits;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (i % HighBits::kBlock == 0) ranks.push_back(larger.size());
    marks.push_back(numbers[i] >> from != 0);
    if (marks.back() == 0) continue;
    larger.push_back(numbers[i]);
    bits.push_back(numbers[i] >> from & ((std::uint64_t{1} << width) - 1));
  }
  words.push_back(larger.size());
  write_bits(marks, 1, words);
  write_bits(ranks, 32, words);
  write_bits(bits, width, words);
  return larger;
}

}  // namespace

NumbersView NumbersView::packed(std::span<const std::uint64_t> words) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 33;
  if (words.size() < kHeader || words[0] > kMost || words[1] > words[0])
    throw_damaged("packed numbers have an invalid header");
  const auto width = [&](unsigned k) { return static_cast<unsigned>(words[2] >> 8 * k & 0xff); };
  const std::array<std::size_t, 4> sizes{words[0], words[1], words[1], width(3) > 0 ? n_blocks(words[0]) : 0};
  std::array<BitColumn, 4> columns;
  auto rest = words.subspan(kHeader);
  for (unsigned k = 0; k < columns.size(); ++k) {
    if (width(k) > 32 || n_words(sizes[k], width(k)) > rest.size()) throw_damaged("packed numbers are truncated");
    columns[k] = BitColumn(rest.data(), sizes[k], width(k));
    rest = rest.subspan(n_words(sizes[k], width(k)));
  }
  NumbersView view;
  auto n_bits = width(0);
  for (std::size_t n = words[0]; view.n_levels_ < kLevels && width(4 + view.n_levels_) > 0;) {
    auto& level = view.levels_[view.n_levels_++];
    const auto bits = width(3 + view.n_levels_);
    const auto n_next = rest.empty() ? n + 1 : rest[0];
    const auto n_ranks = (n + HighBits::kBlock - 1) / HighBits::kBlock;
    n_bits += bits;
    if (n_next > n || n_bits > 32 || 1 + n_words(n, 1) + n_words(n_ranks, 32) + n_words(n_next, bits) > rest.size())
      throw_damaged("packed numbers are truncated");
    rest = rest.subspan(1);
    for (const auto& [column, size, bit_width] :
         {std::tuple(&level.marks, n, 1U), {&level.ranks, n_ranks, 32U}, {&level.numbers, n_next, bits}}) {
      *column = BitColumn(rest.data(), size, bit_width);
      rest = rest.subspan(n_words(size, bit_width));
    }
    n = n_next;
  }
  view.small_ = columns[0];
  view.rows_ = columns[1];
  view.large_ = columns[2];
  view.bases_ = columns[3];
  return view;
}

std::vector<std::uint64_t> pack_numbers(std::span<const std::uint32_t> plain) {
  std::vector<std::uint32_t> numbers(plain.begin(), plain.end());
  std::vector<std::uint64_t> bases, small, rows, large;
  for (std::size_t i = 0; i < numbers.size(); i += NumbersView::kBlock) {
    const auto block = std::span(numbers).subspan(i, std::min(NumbersView::kBlock, numbers.size() - i));
    const auto base = std::ranges::min(block);
    bases.push_back(base);
    for (auto& number : block) number -= base;
  }
  const unsigned base_width = bits_of(bases.empty() ? 0 : std::ranges::max(bases));
  const Widths without(plain), with(numbers);
  const bool has_bases = with.n_bits + bases.size() * base_width < without.n_bits;
  const Widths& widths = has_bases ? with : without;
  const std::uint64_t mask = (std::uint64_t{1} << widths.number) - 1;
  const bool has_levels = widths.levels[0] > 0;
  // A number of all ones needs no row.
  for (std::size_t i = 0; i < plain.size(); ++i) {
    const std::uint64_t number = has_bases ? numbers[i] : plain[i];
    small.push_back(has_levels ? number & mask : std::min(number, mask));
    if (has_levels || number <= mask) continue;
    rows.push_back(i);
    large.push_back(number);
  }
  std::vector<std::uint64_t> words{plain.size(), rows.size(),
                                   widths.number | std::uint64_t{widths.row} << 8 | std::uint64_t{widths.large} << 16 |
                                       std::uint64_t{has_bases ? base_width : 0} << 24};
  for (unsigned k = 0; k < widths.levels.size(); ++k) words[2] |= std::uint64_t{widths.levels[k]} << (32 + 8 * k);
  write_bits(small, widths.number, words);
  write_bits(rows, widths.row, words);
  write_bits(large, widths.large, words);
  if (has_bases) write_bits(bases, base_width, words);
  const auto all = has_bases ? std::span<const std::uint32_t>(numbers) : plain;
  std::vector<std::uint64_t> larger(all.begin(), all.end());
  for (unsigned k = 0, from = widths.number; k < widths.levels.size() && widths.levels[k] > 0; from += widths.levels[k++])
    larger = write_level(larger, from, widths.levels[k], words);
  return words;
}

}  // namespace hyperbaton
