// n-grams while a model is estimated: rows of numbers that are sorted, merged and walked through, never looked up, so that
// they may lie in files larger than memory.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "base/errors.hh"
#include "base/parallel.hh"
#include "corpus/vocabulary.hh"
#include "lm/ngram_model.hh"

namespace hyperbaton {

// The words newest first, so that rows in lexical order are in order of their suffixes; and either how often the n-gram was
// seen, or its probability and the weight of the lower order in it.
template <std::size_t N>
struct NgramRow {
  static constexpr std::uint64_t kPruned = 1ULL << 63;  // a flag in the count

  std::array<WordId, N> words;
  std::array<std::uint32_t, 2> value;

  std::uint64_t count_and_flag() const { return static_cast<std::uint64_t>(value[1]) << 32 | value[0]; }
  std::uint64_t count() const { return count_and_flag() & ~kPruned; }
  bool pruned() const { return (count_and_flag() & kPruned) != 0; }
  void set_count(std::uint64_t count, bool prune) {
    if (prune) count |= kPruned;
    value = {static_cast<std::uint32_t>(count), static_cast<std::uint32_t>(count >> 32)};
  }

  float prob() const { return std::bit_cast<float>(value[0]); }
  float lower_weight() const { return std::bit_cast<float>(value[1]); }
  void set_probs(float prob, float lower_weight) {
    value = {std::bit_cast<std::uint32_t>(prob), std::bit_cast<std::uint32_t>(lower_weight)};
  }

  // Whether the words before the newest one are the same.
  bool same_context(const NgramRow& other) const {
    return std::equal(words.begin() + 1, words.end(), other.words.begin() + 1);
  }
};

// By suffix: newest word first. By context: n-grams of one context together, contexts in order of their suffixes.
struct BySuffix {
  template <std::size_t N>
  bool operator()(const NgramRow<N>& a, const NgramRow<N>& b) const {
    return a.words < b.words;
  }
};
struct ByContext {
  template <std::size_t N>
  bool operator()(const NgramRow<N>& a, const NgramRow<N>& b) const {
    for (std::size_t i = 1; i < N; ++i)
      if (a.words[i] != b.words[i]) return a.words[i] < b.words[i];
    return a.words[0] < b.words[0];
  }
};

// Numbers in memory as rows, which have order + 2 of them.
template <std::size_t N>
std::span<NgramRow<N>> as_rows(std::span<std::uint32_t> numbers) {
  static_assert(sizeof(NgramRow<N>) == (N + 2) * sizeof(std::uint32_t) && alignof(NgramRow<N>) == alignof(std::uint32_t));
  if (numbers.size() % (N + 2) != 0) throw Error("rows of another order");
  return {reinterpret_cast<NgramRow<N>*>(numbers.data()), numbers.size() / (N + 2)};
}
template <std::size_t N>
std::span<const NgramRow<N>> as_rows(std::span<const std::uint32_t> numbers) {
  return as_rows<N>(std::span(const_cast<std::uint32_t*>(numbers.data()), numbers.size()));
}

// Call f.operator()<N>() for an order known only now.
template <class F>
decltype(auto) with_order(std::size_t order, const F& f) {
  switch (order) {
    case 1:
      return f.template operator()<1>();
    case 2:
      return f.template operator()<2>();
    case 3:
      return f.template operator()<3>();
    case 4:
      return f.template operator()<4>();
    case 5:
      return f.template operator()<5>();
    case 6:
      return f.template operator()<6>();
    case 7:
      return f.template operator()<7>();
    case 8:
      return f.template operator()<8>();
    case 9:
      return f.template operator()<9>();
    default:
      throw Error("a language model needs an order from 1 to " + std::to_string(kMaxNgramOrder));
  }
}

// Sort rows that lie in memory.
template <std::size_t N, class Less>
void sort_rows(std::span<NgramRow<N>> rows, const Less& less, unsigned n_threads, const Progress& progress) {
  constexpr std::size_t chunk = 1 << 16;
  parallel_chunks(rows.size(), chunk, n_threads, progress, [&](std::size_t begin, std::size_t end) {
    std::sort(rows.begin() + static_cast<std::ptrdiff_t>(begin), rows.begin() + static_cast<std::ptrdiff_t>(end), less);
  });
  for (std::size_t width = chunk; width < rows.size(); width *= 2) {
    parallel_chunks(rows.size(), 2 * width, n_threads, progress, [&](std::size_t begin, std::size_t end) {
      if (begin + width >= end) return;
      const auto at = [&](std::size_t i) { return rows.begin() + static_cast<std::ptrdiff_t>(i); };
      std::inplace_merge(at(begin), at(begin + width), at(end), less);
    });
  }
}

// Merge sorted runs; rows of the same words become one with the sum of their counts. Returns how many there are.
template <std::size_t N, class Less>
std::size_t merge_rows(std::span<const std::span<const NgramRow<N>>> runs, std::span<NgramRow<N>> out, const Less& less) {
  using Head = std::pair<const NgramRow<N>*, const NgramRow<N>*>;  // next row, end of the run
  const auto later = [&](const Head& a, const Head& b) { return less(*b.first, *a.first); };
  std::vector<Head> heap;
  std::size_t total = 0;
  for (const auto& run : runs) {
    total += run.size();
    if (!run.empty()) heap.emplace_back(run.data(), run.data() + run.size());
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

}  // namespace hyperbaton
