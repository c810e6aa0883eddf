// What reordering models tell the search. Three shapes exist: a score for each class of each option, a score for each
// jump between source words, and a score for each step that may look at the coverage.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "phrases/orientation.hh"

namespace hyperbaton {

// By what the class of a step is decided.
enum class StepRule : std::uint8_t { Distance, Neighbour, Block };

// Per option: row o, column c is the score of option o when its movement towards the previous phrase (Side::Before) or the
// next one (Side::After) has class c. Scores of movements towards the next phrase are charged when that phrase is chosen.
struct OptionScorer {
  std::span<const float> scores;  // (options of all sentences, classes)
  std::size_t n_classes;
  std::vector<float> weights;  // one for all classes, or one for each, which makes each a feature of its own
  StepRule rule;
  Side side;
  std::vector<std::int32_t> cuts;     // for Distance
  std::array<std::uint8_t, 4> merge;  // for the others: the class of each orientation
  bool times_distance;                // scores are per word of distance (Ni 2011, eq. 7)

  std::size_t n_features() const { return weights.size(); }
  float weight(std::size_t column) const { return weights.size() == 1 ? weights[0] : weights[column]; }
};

// Per jump: a matrix of n + 1 rows and columns for a sentence of n words. Row 0 is the start of the sentence, row i + 1
// word i as the last one translated; column j is word j as the next one, column n the end of the sentence.
struct JumpScorer {
  std::span<const float> matrices;        // of all sentences
  std::span<const std::int64_t> offsets;  // where they begin
  float weight;
  bool inside;  // charge the jumps inside a phrase pair too, not only those between two
};

// Per step: asked for many steps at once.
struct StepBatch {
  std::size_t sentence;
  int n_words;
  std::vector<std::int64_t> states;                        // what the scorer returned for the step before, 0 at first
  std::vector<std::uint32_t> coverage;                     // before the step: words of a Coverage for each
  std::vector<std::int32_t> previous_begin, previous_end;  // source span of the previous phrase, 0 and 0 at first
  std::vector<std::int64_t> options;                       // of the block

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
  // Fill in the score of each step and the state behind it.
  virtual void score(const StepBatch& steps, std::span<float> scores, std::span<std::int64_t> states) const = 0;
  // What an option of a sentence may be expected to get, for the future costs.
  virtual float estimate(std::size_t /*sentence*/, std::int64_t /*option*/) const { return 0; }
  // A sentence is translated: what is remembered of it may go.
  virtual void forget(std::size_t /*sentence*/) const {}
};
struct WeightedSteps {
  const StepScorer* scorer;
  float weight;
};

}  // namespace hyperbaton
