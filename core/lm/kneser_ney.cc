#include "lm/kneser_ney.hh"

#include <cmath>

namespace hyperbaton {

namespace {

// The sums over the n-grams of one context.
template <std::size_t N>
ContextSums sum_context(std::span<const NgramRow<N>> rows, const Discounts& discounts) {
  ContextCounts<std::uint64_t> counts;
  for (const auto& row : rows) counts.add(row.count(), row.pruned());
  return counts.sums(discounts);
}

constexpr float kLowestLog10 = -99;  // of zero

float safe_log10(float value) { return std::max(std::log10(value), kLowestLog10); }

}  // namespace

void estimate_unigrams(std::span<std::uint32_t> numbers, const Discounts& discounts) {
  const auto rows = as_rows<1>(numbers);
  const auto sums = sum_context<1>(rows, discounts);
  const float uniform = 1.0F / static_cast<float>(rows.size() - 1);
  for (auto& row : rows)
    row.set_probs(interpolated(discounted(discounts, row.count()) / sums.total, sums.weight, uniform), 0);
  // Makes the probability of a sentence independent of whether its <s> is counted.
  rows[NgramModel::kBos].set_probs(1, 0);
}

std::size_t estimate_order(std::span<std::uint32_t> numbers, std::size_t order, const Discounts& discounts,
                           std::span<const std::uint32_t> lower, std::span<float> weights) {
  if (order < 2) throw Error("unigrams have no context");
  return with_order(order, [&]<std::size_t N>() -> std::size_t {
    if constexpr (N == 1) {
      return 0;
    } else {
      const auto rows = as_rows<N>(numbers);
      const auto contexts = as_rows<N - 1>(lower);
      if (weights.size() != contexts.size()) throw Error("there must be one weight for each context");
      std::fill(weights.begin(), weights.end(), 1.0F);
      std::size_t n_kept = 0, c = 0;
      for (std::size_t begin = 0, end; begin < rows.size(); begin = end) {
        for (end = begin + 1; end < rows.size() && rows[end].same_context(rows[begin]);) ++end;
        const auto sums = sum_context<N>(rows.subspan(begin, end - begin), discounts);
        std::array<WordId, N - 1> context;
        std::copy(rows[begin].words.begin() + 1, rows[begin].words.end(), context.begin());
        while (c < contexts.size() && contexts[c].words < context) ++c;
        if (c < contexts.size() && contexts[c].words == context) weights[c] = sums.weight;
        for (std::size_t i = begin; i < end; ++i) {
          if (rows[i].pruned()) continue;
          const float prob = discounted(discounts, rows[i].count()) / sums.total;
          rows[n_kept] = rows[i];
          rows[n_kept++].set_probs(prob, sums.weight);
        }
      }
      return n_kept;
    }
  });
}

void interpolate(std::span<std::uint32_t> numbers, std::size_t order, std::span<const std::uint32_t> lower_numbers) {
  if (order < 2) throw Error("unigrams have no lower order");
  with_order(order, [&]<std::size_t N>() {
    if constexpr (N > 1) {
      const auto rows = as_rows<N>(numbers);
      const auto lower = as_rows<N - 1>(lower_numbers);
      std::size_t at = 0;
      for (auto& row : rows) {
        std::array<WordId, N - 1> suffix;
        std::copy(row.words.begin(), row.words.end() - 1, suffix.begin());
        while (at < lower.size() && lower[at].words < suffix) ++at;
        if (at == lower.size() || lower[at].words != suffix) throw Error("the end of an n-gram is not in the order below");
        row.set_probs(interpolated(row.prob(), row.lower_weight(), lower[at].prob()), 0);
      }
    }
  });
}

void finish_probs(std::span<float> probs) {
  for (auto& prob : probs) prob = std::min(safe_log10(prob), 0.0F);
}

void finish_weights(std::span<float> weights) {
  for (auto& weight : weights) weight = safe_log10(weight);
}

void finish_order(std::span<const std::uint32_t> numbers, std::size_t order, std::span<WordId> words,
                  std::span<float> log10_prob, std::span<float> weights) {
  with_order(order, [&]<std::size_t N>() {
    const auto rows = as_rows<N>(numbers);
    if (words.size() != N * rows.size() || log10_prob.size() != rows.size() ||
        (!weights.empty() && weights.size() != rows.size()))
      throw Error("the columns do not match the rows");
    for (std::size_t i = 0; i < rows.size(); ++i) {
      std::reverse_copy(rows[i].words.begin(), rows[i].words.end(), words.begin() + static_cast<std::ptrdiff_t>(i * N));
      log10_prob[i] = rows[i].prob();
    }
    finish_probs(log10_prob);
    finish_weights(weights);
  });
}

}  // namespace hyperbaton
