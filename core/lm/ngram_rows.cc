#include "lm/ngram_rows.hh"

#include <numeric>
#include <utility>
#include <vector>

namespace hyperbaton {

namespace {

// Whether the row of `order` words at a comes before the one at b.
template <RowOrder by>
bool is_before(const WordId* a, const WordId* b, std::size_t order) {
  for (std::size_t i = by == RowOrder::ByContext ? 1 : 0; i < order; ++i)
    if (a[i] != b[i]) return a[i] < b[i];
  return by == RowOrder::ByContext && a[0] < b[0];
}

template <class T, class Less>
void sort_in_parallel(std::span<T> values, const Less& less, unsigned n_threads, const Progress& progress) {
  constexpr std::size_t chunk = 1 << 16;
  const auto at = [&](std::size_t i) { return values.begin() + static_cast<std::ptrdiff_t>(i); };
  parallel_chunks(values.size(), chunk, n_threads, progress,
                  [&](std::size_t begin, std::size_t end) { std::sort(at(begin), at(end), less); });
  for (std::size_t width = chunk; width < values.size(); width *= 2) {
    parallel_chunks(values.size(), 2 * width, n_threads, progress, [&](std::size_t begin, std::size_t end) {
      if (begin + width < end) std::inplace_merge(at(begin), at(begin + width), at(end), less);
    });
  }
}

template <std::size_t N, RowOrder by>
void sort_fixed(std::span<std::uint32_t> numbers, unsigned n_threads, const Progress& progress) {
  const auto less = [](const NgramRow<N>& a, const NgramRow<N>& b) {
    return is_before<by>(a.words.data(), b.words.data(), N);
  };
  sort_in_parallel(as_rows<N>(numbers), less, n_threads, progress);
}

// Rows of any order: their numbers are sorted, then the rows are moved to their places.
template <RowOrder by>
void sort_any(std::span<std::uint32_t> numbers, std::size_t order, unsigned n_threads, const Progress& progress) {
  const std::size_t width = order + 2;
  if (numbers.size() % width != 0) throw Error("the rows have a different order");
  const auto row = [&](std::size_t i) { return numbers.data() + i * width; };
  std::vector<std::size_t> from(numbers.size() / width);
  std::iota(from.begin(), from.end(), 0);
  sort_in_parallel(
      std::span(from), [&](std::size_t a, std::size_t b) { return is_before<by>(row(a), row(b), order); }, n_threads,
      progress);
  std::vector<std::uint32_t> first(width);
  for (std::size_t start = 0; start < from.size(); ++start) {  // each cycle of the permutation once
    if (from[start] == start) continue;
    std::copy_n(row(start), width, first.begin());
    std::size_t to = start;
    while (from[to] != start) {
      std::copy_n(row(from[to]), width, row(to));
      to = std::exchange(from[to], to);
    }
    std::copy(first.begin(), first.end(), row(to));
    from[to] = to;
  }
}

// The usual orders are compile-time constants, which makes sorting faster.
template <RowOrder by>
void sort_rows_by(std::span<std::uint32_t> numbers, std::size_t order, unsigned n_threads, const Progress& progress) {
  switch (order) {
    case 2:
      return sort_fixed<2, by>(numbers, n_threads, progress);
    case 3:
      return sort_fixed<3, by>(numbers, n_threads, progress);
    case 4:
      return sort_fixed<4, by>(numbers, n_threads, progress);
    case 5:
      return sort_fixed<5, by>(numbers, n_threads, progress);
    default:
      return sort_any<by>(numbers, order, n_threads, progress);
  }
}

template <std::size_t N>
std::size_t merge_fixed(std::span<const std::span<const std::uint32_t>> runs, std::span<NgramRow<N>> out, RowOrder by) {
  using Head = std::pair<const NgramRow<N>*, const NgramRow<N>*>;  // next row, end of the run
  const auto later = [&](const Head& a, const Head& b) {
    const auto *x = b.first->words.data(), *y = a.first->words.data();
    return by == RowOrder::ByContext ? is_before<RowOrder::ByContext>(x, y, N) : is_before<RowOrder::BySuffix>(x, y, N);
  };
  std::vector<Head> heap;
  std::size_t total = 0;
  for (const auto& run : runs) {
    const auto rows = as_rows<N>(run);
    total += rows.size();
    if (!rows.empty()) heap.emplace_back(rows.data(), rows.data() + rows.size());
  }
  if (total > out.size()) throw Error("no room for the merged rows");
  std::make_heap(heap.begin(), heap.end(), later);
  std::size_t n = 0;
  while (!heap.empty()) {
    std::pop_heap(heap.begin(), heap.end(), later);
    auto& [row, end] = heap.back();
    if (n > 0 && out[n - 1].words == row->words) {
      out[n - 1].set_count(out[n - 1].count() + row->count(), false);
    } else {
      out[n++] = *row;
    }
    if (++row == end) {
      heap.pop_back();
    } else {
      std::push_heap(heap.begin(), heap.end(), later);
    }
  }
  return n;
}

}  // namespace

void sort_rows(std::span<std::uint32_t> numbers, std::size_t order, RowOrder by, unsigned n_threads,
               const Progress& progress) {
  by == RowOrder::ByContext ? sort_rows_by<RowOrder::ByContext>(numbers, order, n_threads, progress)
                            : sort_rows_by<RowOrder::BySuffix>(numbers, order, n_threads, progress);
}

std::size_t merge_rows(std::span<const std::span<const std::uint32_t>> runs, std::size_t order,
                       std::span<std::uint32_t> out, RowOrder by) {
  return with_order(order, [&]<std::size_t N>() { return merge_fixed<N>(runs, as_rows<N>(out), by); });
}

}  // namespace hyperbaton
