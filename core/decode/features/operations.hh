// Scores of operations: an operation sequence model, with Moses' supporting features.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "base/interner.hh"
#include "decode/feature.hh"
#include "decode/operation_scorer.hh"

namespace hyperbaton {

struct WeightedOperations {
  const OperationInput* input;
  std::array<float, kOperationValues> weights;  // of the model's values
  std::size_t n_values() const { return input->n_values; }
};

class OperationFeature : public FeatureDefaults {
 public:
  using Input = WeightedOperations;
  OperationFeature(const WeightedOperations& input, const Sentence& sentence, const Limits&)
      : input_(input), operations_(*input.input, sentence.number()) {}

  // The position of the walk, and the history.
  std::size_t n_state() const { return 2; }
  void start(std::uint32_t* state) const { write(operations_.start(), state); }
  void estimate(std::uint32_t option, float& score) const { score += weighted(operations_.estimate(option)); }
  void prepare(const Step& step, const std::uint32_t* state, std::uint32_t& memo, float&) {
    const auto prepared = operations_.prepare(step.before, read(state), step.next);
    const auto [number, is_new] = prepared_numbers_.number(std::span<const int>(prepared.key()));
    if (is_new) prepared_.push_back(prepared);
    memo = number;
  }
  void extend(const Step& step, const std::uint32_t* state, std::uint32_t memo, std::uint32_t option, std::uint32_t* after,
              float& score) {
    const auto [counts, behind] = operations_.score(step.before, read(state), option, prepared_[memo]);
    score += weighted(counts);
    write(behind, after);
  }
  void add_values(const Step& step, const GraphStep& way, std::uint32_t, float* columns) const {
    const auto values = operations_.score(step.before, read(way.state), way.option).first.values();
    for (std::size_t i = 0; i < input_.n_values(); ++i) columns[i] += values[i];
  }

 private:
  using State = OperationSentence::State;
  static State read(const std::uint32_t* state) { return {state[0], state[1]}; }
  static void write(State state, std::uint32_t* words) {
    words[0] = state.at;
    words[1] = state.history;
  }
  float weighted(const OperationCounts& counts) const {
    const auto values = counts.values();
    float sum = 0;
    for (std::size_t i = 0; i < input_.n_values(); ++i) sum += input_.weights[i] * values[i];
    return sum;
  }

  const WeightedOperations& input_;
  mutable OperationSentence operations_;
  Interner prepared_numbers_;
  std::vector<OperationSentence::Prepared> prepared_;  // by memo
};

}  // namespace hyperbaton
