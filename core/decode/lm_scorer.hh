// A language model inside one sentence's search: states as numbers, and what an option costs after a state looked up once.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "decode/interner.hh"
#include "decode/options.hh"

namespace hyperbaton {

class LmScorer {
 public:
  struct Scored {
    float score;  // weighted
    std::uint32_t state;
  };

  // `targets`: the target phrase of each option.
  LmScorer(const WeightedLm& lm, std::span<const std::span<const WordId>> targets);

  std::uint32_t begin() const { return begin_; }
  const LmState& context(std::uint32_t state) const { return states_[state]; }
  // A row of results for the options [first, last) after a state; one look-up for all options of a span.
  std::uint32_t row(std::uint32_t state, std::uint32_t first, std::uint32_t last);
  // The result of an option in the row of its span, which begins with option `first`.
  Scored extend(std::uint32_t row, std::uint32_t state, std::uint32_t first, std::uint32_t option) {
    const std::size_t at = row + (option - first);
    if (results_[at].state == kOpen) results_[at] = score(state, option);
    return results_[at];
  }
  // What the end of the sentence costs.
  float finish(std::uint32_t state);

 private:
  // A phrase's words behind the first order - 1 are scored once and for all, and often its state after the last one too.
  struct Phrase {
    float inner;
    std::uint32_t state;  // kOpen where it depends on what is before
  };
  static constexpr std::uint32_t kOpen = 0xffffffffU;

  Scored score(std::uint32_t state, std::uint32_t option);
  std::uint32_t number(const LmState& state);

  const WeightedLm& lm_;
  std::span<const std::span<const WordId>> targets_;
  std::vector<Phrase> phrases_;  // by option
  std::vector<LmState> states_;
  Interner numbers_;  // of states
  U64Map rows_;       // (state, first option) to the place of its row in results_
  std::vector<Scored> results_;
  std::vector<float> finished_;  // by state, NaN where not asked yet
  std::uint32_t begin_;
};

}  // namespace hyperbaton
