#include "lm/counts.hh"

namespace hyperbaton {

namespace {

// The order of the n-gram in a padded row: its words up to the first <s>.
template <std::size_t N>
std::size_t true_order(const NgramRow<N>& row) {
  const auto begin = std::find(row.words.begin(), row.words.end(), NgramModel::kBos);
  return std::min<std::size_t>(to_size(begin - row.words.begin()) + 1, N);
}

// The number of newest words that two rows share.
template <std::size_t N>
std::size_t n_shared(const NgramRow<N>& a, const NgramRow<N>& b) {
  std::size_t n = 0;
  while (n < N && a.words[n] == b.words[n]) ++n;
  return n;
}

// Rows of all orders, each filled from the front.
class OrderRows {
 public:
  explicit OrderRows(std::span<const std::span<std::uint32_t>> orders) : orders_(orders), n_(orders.size(), 0) {}
  std::size_t n(std::size_t k) const { return n_[k - 1]; }
  bool full() const {
    for (std::size_t k = 1; k <= n_.size(); ++k)
      if (n_[k - 1] * (k + 2) != orders_[k - 1].size()) return false;
    return true;
  }
  // The newest k words of the row, with a count.
  template <std::size_t N>
  void add(std::size_t k, const NgramRow<N>& row, std::uint64_t count, bool pruned) {
    const auto at = n_[k - 1]++ * (k + 2);
    if (at + k + 2 > orders_[k - 1].size()) throw Error("no room for the n-grams of order " + std::to_string(k));
    auto* out = orders_[k - 1].data() + at;
    std::copy_n(row.words.begin(), k, out);
    NgramRow<1> value{};
    value.set_count(count, pruned);
    std::copy(value.value.begin(), value.value.end(), out + k);
  }

 private:
  std::span<const std::span<std::uint32_t>> orders_;
  std::vector<std::size_t> n_;
};

}  // namespace

std::vector<std::uint32_t> count_ngrams(const TokensView& text, std::size_t begin, std::size_t end, std::size_t order,
                                        unsigned n_threads, const Progress& progress) {
  if (begin > end || end + 1 > text.offsets.size() || text.offsets.back() != static_cast<std::int64_t>(text.tokens.size()))
    throw Error("sentence offsets do not match the tokens");
  return with_order(order, [&]<std::size_t N>() {
    const auto n_tokens = to_size(text.offsets[end] - text.offsets[begin]);
    std::vector<std::uint32_t> numbers((n_tokens + end - begin) * (N + 2));
    const auto rows = as_rows<N>(std::span(numbers));
    auto* row = rows.data();
    for (std::size_t s = begin; s < end; ++s) {
      std::array<WordId, N> words;
      words.fill(NgramModel::kBos);
      const auto add = [&](WordId word) {
        std::copy_backward(words.begin(), words.end() - 1, words.end());
        words[0] = word;
        row->words = words;
        row++->set_count(1, false);
      };
      for (const auto word : text[s]) {
        if (word == NgramModel::kBos || word == NgramModel::kEos) throw Error("there is <s> or </s> inside a sentence");
        add(word);
      }
      add(NgramModel::kEos);
    }
    sort_rows(numbers, N, RowOrder::BySuffix, n_threads, progress);
    std::size_t n = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (n > 0 && rows[n - 1].words == rows[i].words) {
        rows[n - 1].set_count(rows[n - 1].count() + 1, false);
      } else {
        rows[n++] = rows[i];
      }
    }
    numbers.resize(n * (N + 2));
    numbers.shrink_to_fit();
    return numbers;
  });
}

std::vector<std::size_t> count_orders(std::span<const std::uint32_t> full, std::size_t order) {
  return with_order(order, [&]<std::size_t N>() {
    const auto rows = as_rows<N>(full);
    std::vector<std::size_t> sizes(N, 0);
    for (std::size_t i = 0; i < rows.size(); ++i)
      for (std::size_t k = i > 0 ? n_shared(rows[i - 1], rows[i]) + 1 : 1; k <= true_order(rows[i]); ++k) ++sizes[k - 1];
    // <s> is never the newest word of a row; <unk> only if it occurs in the text.
    const bool has_unk = !rows.empty() && rows[0].words[0] == NgramModel::kUnk;
    sizes[0] += has_unk ? 1 : 2;
    return sizes;
  });
}

std::vector<CountOfCounts> adjust_counts(std::span<const std::uint32_t> full, std::span<const std::uint64_t> thresholds,
                                         std::span<const std::span<std::uint32_t>> orders) {
  if (thresholds.size() != orders.size()) throw Error("there must be one threshold for each order");
  return with_order(orders.size(), [&]<std::size_t N>() {
    const auto rows = as_rows<N>(full);
    std::vector<CountOfCounts> counts(N, CountOfCounts{});
    OrderRows out(orders);
    const auto add = [&](std::size_t k, const NgramRow<N>& row, std::uint64_t adjusted, std::uint64_t seen) {
      out.add(k, row, adjusted, seen <= thresholds[k - 1]);
      if (adjusted >= 1 && adjusted <= 4) ++counts[k - 1][adjusted - 1];
    };
    const auto add_marker = [&](WordId word) {
      NgramRow<N> row{};
      row.words[0] = word;
      out.add(1, row, 0, false);
    };

    // The n-grams at the start of the last row, not yet complete: [k - 1] is of order k.
    std::array<std::uint64_t, N> adjusted{}, seen{};
    const auto close = [&](const NgramRow<N>& row, std::size_t shared) {
      for (std::size_t k = true_order(row); k > shared; --k) add(k, row, adjusted[k - 1], seen[k - 1]);
    };
    if (rows.empty() || rows[0].words[0] != NgramModel::kUnk) add_marker(NgramModel::kUnk);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const auto& row = rows[i];
      const std::size_t shared = i > 0 ? n_shared(rows[i - 1], row) : 0, length = true_order(row);
      if (i > 0) close(rows[i - 1], shared);
      if (out.n(1) == 1 && row.words[0] > NgramModel::kBos) add_marker(NgramModel::kBos);
      for (std::size_t k = 1; k <= shared; ++k) seen[k - 1] += row.count();
      if (shared > 0) ++adjusted[shared - 1];
      for (std::size_t k = shared + 1; k <= length; ++k) {
        seen[k - 1] = row.count();
        adjusted[k - 1] = k == length ? row.count() : 1;
      }
    }
    if (!rows.empty()) close(rows.back(), 0);
    if (out.n(1) == 1) add_marker(NgramModel::kBos);
    if (!out.full()) throw Error("the n-grams do not match their rows");
    return counts;
  });
}

}  // namespace hyperbaton
