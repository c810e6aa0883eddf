// Interpolated modified Kneser-Ney smoothing (Chen and Goodman 1998, section 4; Heafield et al. 2013).
//
// With a(hw) the adjusted count, D(a) the discount of a count, and h⁻ the context h without its oldest word,
//
//     p(w | h) = (a(hw) − D(a(hw))) / Σ_v a(hv)  +  γ(h) p(w | h⁻),
//     γ(h)     = (Σ_{i=1}^{3} D(i) N_i(h) + pruned(h)) / Σ_v a(hv),
//
// where N_i(h) is the number of words that follow h with an adjusted count of i (3: or more) and pruned(h) is the sum of
// the counts of pruned n-grams. Unigrams are interpolated with the uniform distribution over all words but <s>.
// Arithmetic uses floats rounded after each step, so that a model is identical on every machine, and identical to that of
// lmplz.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "lm/ngram_rows.hh"

namespace hyperbaton {

using Discounts = std::array<float, 4>;  // of adjusted counts 0 (always 0), 1, 2, 3 and more

inline float discounted(const Discounts& discounts, std::uint64_t count) {
  return static_cast<float>(count) - discounts[std::min<std::uint64_t>(count, 3)];
}

// The product rounded to a float, which no compiler may fuse with an addition.
inline float product(float a, float b) { return static_cast<float>(static_cast<double>(a) * static_cast<double>(b)); }

// p of the discounted count, and of γ and the order below.
inline float interpolated(float prob, float lower_weight, float lower_prob) {
  return prob + product(lower_weight, lower_prob);
}

struct ContextSums {
  float total, weight;  // Σ a(hv), γ(h)
};

// The counts of the n-grams of one context, added up.
template <class Count>
struct ContextCounts {
  Count total = 0, pruned = 0;
  std::array<Count, 3> n{};  // with a count of 1, 2, 3 and more, without pruned ones

  void add(Count count, bool is_pruned) {
    total += count;
    if (is_pruned) {
      pruned += count;
    } else if (count > 0) {
      ++n[std::min<Count>(count, 3) - 1];
    }
  }
  ContextSums sums(const Discounts& discounts) const {
    float weight = 0;
    for (std::size_t i = 1; i <= 3; ++i) weight += product(discounts[i], static_cast<float>(n[i - 1]));
    weight += static_cast<float>(pruned);
    return {static_cast<float>(total), weight / static_cast<float>(total)};
  }
};

// Convert the adjusted counts of all unigrams, by word, into probabilities.
void estimate_unigrams(std::span<std::uint32_t> rows, const Discounts& discounts);

// Convert the adjusted counts of an order from 2 on, by context, into the two terms of p; pruned n-grams are dropped.
// `lower` contains the rows of the order below, by suffix; γ of each row that is a context goes to `weights`, 1 for the
// others. Returns the number of remaining rows.
std::size_t estimate_order(std::span<std::uint32_t> rows, std::size_t order, const Discounts& discounts,
                           std::span<const std::uint32_t> lower, std::span<float> weights);

// Add up the two terms, given the finished order below; both by suffix.
void interpolate(std::span<std::uint32_t> rows, std::size_t order, std::span<const std::uint32_t> lower);

// Replace each probability and each γ by its log10.
void finish_probs(std::span<float> probs);
void finish_weights(std::span<float> weights);

// Finished rows as columns: words oldest first, log10 of the probabilities, and log10 of each γ.
void finish_order(std::span<const std::uint32_t> rows, std::size_t order, std::span<WordId> words,
                  std::span<float> log10_prob, std::span<float> weights);

}  // namespace hyperbaton
