#include "base/numbers_view.hh"

namespace hyperbaton {

namespace {

constexpr std::size_t kHeader = 3;

std::size_t n_words(std::size_t n, unsigned width) { return (n * width + 63) / 64; }

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

}  // namespace

NumbersView NumbersView::packed(std::span<const std::uint64_t> words) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 33;
  if (words.size() < kHeader || words[0] > kMost || words[1] > words[0]) throw_damaged("packed numbers have an invalid header");
  const auto width = [&](unsigned k) { return static_cast<unsigned>(words[2] >> 8 * k & 0xff); };
  const std::array<std::size_t, 3> sizes{words[0], words[1], words[1]};
  std::array<BitColumn, 3> columns;
  auto rest = words.subspan(kHeader);
  for (unsigned k = 0; k < columns.size(); ++k) {
    if (width(k) > 32 || n_words(sizes[k], width(k)) > rest.size()) throw_damaged("packed numbers are truncated");
    columns[k] = BitColumn(rest.data(), sizes[k], width(k));
    rest = rest.subspan(n_words(sizes[k], width(k)));
  }
  NumbersView view;
  view.small_ = columns[0];
  view.rows_ = columns[1];
  view.large_ = columns[2];
  return view;
}

std::vector<std::uint64_t> pack_numbers(std::span<const std::uint32_t> numbers) {
  std::array<std::size_t, 33> n_of_width{};
  for (const auto number : numbers) ++n_of_width[bits_of(number)];
  unsigned most = 32;
  while (most > 0 && n_of_width[most] == 0) --most;
  // A number of all ones needs no row.
  const unsigned row_width = bits_of(numbers.size());
  unsigned width = most;
  std::size_t n_large = 0, least = numbers.size() * most;
  for (unsigned w = most; w > 0; --w) {
    n_large += n_of_width[w];
    if (const auto size = numbers.size() * (w - 1) + n_large * (row_width + most); size < least) {
      least = size;
      width = w - 1;
    }
  }
  const std::uint64_t mask = (std::uint64_t{1} << width) - 1;
  std::vector<std::uint64_t> small(numbers.begin(), numbers.end()), rows, large;
  for (std::size_t i = 0; i < numbers.size(); ++i)
    if (numbers[i] > mask) {
      small[i] = mask;
      rows.push_back(i);
      large.push_back(numbers[i]);
    }
  std::vector<std::uint64_t> words{numbers.size(), rows.size(),
                                   width | std::uint64_t{row_width} << 8 | std::uint64_t{most} << 16};
  write_bits(small, width, words);
  write_bits(rows, row_width, words);
  write_bits(large, most, words);
  return words;
}

}  // namespace hyperbaton
