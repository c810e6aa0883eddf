// n-grams during estimation: rows of numbers that are sorted, merged and scanned but never looked up, so they may be
// stored in files larger than memory.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/errors.hh"
#include "base/parallel.hh"
#include "corpus/vocabulary.hh"
#include "lm/ngram_model.hh"

namespace hyperbaton {

// The words newest first, so that lexical order is suffix order; and either the count of the n-gram, or its probability
// and the weight of the lower order.
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

  // Whether the contexts (all words but the newest) are equal.
  bool same_context(const NgramRow& other) const {
    return std::equal(words.begin() + 1, words.end(), other.words.begin() + 1);
  }
};

// By suffix: newest word first. By context: n-grams grouped by context, contexts in suffix order.
enum class RowOrder : std::uint8_t { BySuffix, ByContext };

// View numbers in memory as rows of order + 2 numbers.
template <std::size_t N>
std::span<NgramRow<N>> as_rows(std::span<std::uint32_t> numbers) {
  static_assert(sizeof(NgramRow<N>) == (N + 2) * sizeof(std::uint32_t) && alignof(NgramRow<N>) == alignof(std::uint32_t));
  if (numbers.size() % (N + 2) != 0) throw Error("the rows have a different order");
  return {reinterpret_cast<NgramRow<N>*>(numbers.data()), numbers.size() / (N + 2)};
}
template <std::size_t N>
std::span<const NgramRow<N>> as_rows(std::span<const std::uint32_t> numbers) {
  return as_rows<N>(std::span(const_cast<std::uint32_t*>(numbers.data()), numbers.size()));
}

// Call f.operator()<N>() for an order known only at run time.
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

// Sort rows in memory.
void sort_rows(std::span<std::uint32_t> numbers, std::size_t order, RowOrder by, unsigned n_threads,
               const Progress& progress);

// Merge sorted runs; rows with equal words become one with the sum of their counts. Returns the number of rows.
std::size_t merge_rows(std::span<const std::span<const std::uint32_t>> runs, std::size_t order,
                       std::span<std::uint32_t> out, RowOrder by);

}  // namespace hyperbaton
