// A language model inside one sentence's search: states as numbers, and what an option costs after a state looked up once.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "decode/feature.hh"
#include "decode/interner.hh"

namespace hyperbaton {

class LmFeature : public FeatureDefaults {
 public:
  using Input = WeightedLm;
  LmFeature(const WeightedLm& lm, const Sentence& sentence, const Limits&);

  std::size_t n_state() const { return 1; }
  void start(std::uint32_t* state) const { *state = begin_; }
  // One look-up for all options of a span.
  void prepare(const Step& step, const std::uint32_t* state, std::uint32_t& memo, float&) {
    memo = row(*state, step.first_option, step.last_option);
  }
  void extend(const Step& step, const std::uint32_t* state, std::uint32_t memo, std::uint32_t option, std::uint32_t* after,
              float& score) {
    const std::size_t at = memo + (option - step.first_option);
    if (results_[at].state == kOpen) results_[at] = score_option(*state, option);
    score += results_[at].score;
    *after = results_[at].state;
  }
  void finish(const std::uint32_t* state, float& score);
  void add_values(const Step&, const GraphStep& way, std::uint32_t memo, float* column) const;
  void add_end_values(const std::uint32_t* state, float* column) const;

 private:
  struct Scored {
    float score;  // weighted
    std::uint32_t state;
  };
  // A phrase's words behind the first order - 1 are scored once and for all, and often its state after the last one too.
  struct Phrase {
    float inner;
    std::uint32_t state;  // kOpen where it depends on what is before
  };
  static constexpr std::uint32_t kOpen = 0xffffffffU;

  // A row of results for the options [first, last) after a state.
  std::uint32_t row(std::uint32_t state, std::uint32_t first, std::uint32_t last);
  Scored score_option(std::uint32_t state, std::uint32_t option);
  std::uint32_t number(const LmState& state);

  const WeightedLm& lm_;
  const Sentence& sentence_;
  std::vector<Phrase> phrases_;  // by option
  std::vector<LmState> states_;
  Interner numbers_;  // of states
  U64Map rows_;       // (state, first option) to the place of its row in results_
  std::vector<Scored> results_;
  std::vector<float> finished_;  // by state, NaN where not asked yet
  std::uint32_t begin_;
};

}  // namespace hyperbaton
