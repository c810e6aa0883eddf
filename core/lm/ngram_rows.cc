#include "lm/ngram_rows.hh"

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

template <std::size_t N, RowOrder by>
void sort_fixed(std::span<NgramRow<N>> rows, unsigned n_threads, const Progress& progress) {
  constexpr std::size_t chunk = 1 << 16;
  const auto less = [](const NgramRow<N>& a, const NgramRow<N>& b) {
    return is_before<by>(a.words.data(), b.words.data(), N);
  };
  const auto at = [&](std::size_t i) { return rows.begin() + static_cast<std::ptrdiff_t>(i); };
  parallel_chunks(rows.size(), chunk, n_threads, progress,
                  [&](std::size_t begin, std::size_t end) { std::sort(at(begin), at(end), less); });
  for (std::size_t width = chunk; width < rows.size(); width *= 2) {
    parallel_chunks(rows.size(), 2 * width, n_threads, progress, [&](std::size_t begin, std::size_t end) {
      if (begin + width < end) std::inplace_merge(at(begin), at(begin + width), at(end), less);
    });
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
  with_order(order, [&]<std::size_t N>() {
    const auto rows = as_rows<N>(numbers);
    by == RowOrder::ByContext ? sort_fixed<N, RowOrder::ByContext>(rows, n_threads, progress)
                              : sort_fixed<N, RowOrder::BySuffix>(rows, n_threads, progress);
  });
}

std::size_t merge_rows(std::span<const std::span<const std::uint32_t>> runs, std::size_t order,
                       std::span<std::uint32_t> out, RowOrder by) {
  return with_order(order, [&]<std::size_t N>() { return merge_fixed<N>(runs, as_rows<N>(out), by); });
}

}  // namespace hyperbaton
