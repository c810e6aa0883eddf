// Scores of steps: a batched model that may use the coverage and keeps a state.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "decode/feature.hh"

namespace hyperbaton {

struct StepBatch {
  std::size_t sentence;
  int n_words;
  std::vector<std::int64_t> states;                        // the scorer's result for the previous step, 0 at first
  std::vector<std::uint32_t> coverage;                     // before the step: words of a Coverage for each
  std::vector<std::int32_t> previous_begin, previous_end;  // source span of the previous phrase, 0 and 0 at first
  std::vector<std::int64_t> options;                       // by their rows

  std::size_t size() const { return options.size(); }
  void clear() {
    states.clear();
    coverage.clear();
    previous_begin.clear();
    previous_end.clear();
    options.clear();
  }
};

class StepScorer {
 public:
  virtual ~StepScorer() = default;
  // Fill in the score of each step and the state after it.
  virtual void score(const StepBatch& steps, std::span<float> scores, std::span<std::int64_t> states) const = 0;
  // Estimated score of an option of a sentence, for the future cost.
  virtual float estimate(std::size_t /*sentence*/, std::int64_t /*option*/) const { return 0; }
  // A sentence is finished: data kept for it may be freed.
  virtual void forget(std::size_t /*sentence*/) const {}
};

struct WeightedSteps {
  const StepScorer* scorer;
  float weight;
  std::size_t n_values() const { return 1; }
};

class StepFeature : public FeatureDefaults {
 public:
  using Input = WeightedSteps;
  static constexpr bool kBatched = true;
  StepFeature(const WeightedSteps& input, const Sentence& sentence, const Limits&)
      : input_(input), sentence_(sentence), batch_{sentence.number(), sentence.n_words(), {}, {}, {}, {}, {}} {}

  // The scorer's result for the last step.
  std::size_t n_state() const { return 2; }
  Needs needs(const Limits&) const { return {.end = true, .begin = true}; }
  void estimate(std::uint32_t option, float& score) const {
    score += input_.weight * input_.scorer->estimate(sentence_.number(), option_row(option));
  }
  float weight() const { return input_.weight; }
  // Unweighted scores of steps. The feature's own words of a state are at `at`, after the shared ones.
  std::span<const float> ask(std::span<const BatchedStep> steps, const SharedState& shared, std::size_t at);
  void forget() const { input_.scorer->forget(sentence_.number()); }

 private:
  std::int64_t option_row(std::uint32_t option) const { return static_cast<std::int64_t>(sentence_.row(option)); }

  const WeightedSteps& input_;
  const Sentence& sentence_;
  StepBatch batch_;
  std::vector<float> scores_;
  std::vector<std::int64_t> states_;
};

}  // namespace hyperbaton
