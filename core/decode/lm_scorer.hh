// A language model inside one sentence's search: states as numbers, and what a phrase costs after a state looked up once.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "decode/options.hh"
#include "decode/interner.hh"

namespace hyperbaton {

class LmScorer {
 public:
  struct Scored {
    float score;  // weighted
    std::uint32_t state;
  };

  // `phrases`: the distinct target phrases of the sentence, which may be asked by their number.
  LmScorer(const WeightedLm& lm, std::span<const std::span<const WordId>> phrases);

  std::uint32_t begin() const { return begin_; }
  Scored extend(std::uint32_t state, std::uint32_t phrase);
  // What the end of the sentence costs.
  float finish(std::uint32_t state);

 private:
  // A phrase's words behind the first order - 1 are scored once and for all, and often its state after the last one too.
  struct Phrase {
    float inner;
    std::uint32_t state;  // kOpen where it depends on what is before
  };
  static constexpr std::uint32_t kOpen = 0xffffffffU;

  std::uint32_t number(const LmState& state);

  const WeightedLm& lm_;
  std::span<const std::span<const WordId>> words_;
  std::vector<Phrase> phrases_;
  std::vector<LmState> states_;
  Interner numbers_;  // of states
  U64Map asked_;      // (state, phrase) to its place in results_
  std::vector<Scored> results_;
  std::vector<float> finished_;  // by state, NaN where not asked yet
  std::uint32_t begin_;
};

}  // namespace hyperbaton
