// Scores of options: a reordering model's score for each class of movement relative to the previous or next phrase.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/size.hh"
#include "decode/distance.hh"
#include "decode/feature.hh"
#include "phrases/orientation.hh"
#include "phrases/possible.hh"

namespace hyperbaton {

// How the class of a step is determined.
enum class StepRule : std::uint8_t { Distance, Neighbour, Hierarchical };

// Row o, column c is the score of option o when its movement relative to the previous phrase (Side::Before) or the next
// one (Side::After) has class c. Scores relative to the next phrase are charged when that phrase is chosen.
struct OptionScorer {
  std::span<const float> scores;  // (options of all sentences, classes)
  std::size_t n_classes;
  std::vector<float> weights;  // one for all classes, or one for each; then each class is a separate feature
  StepRule rule;
  Side side;
  std::vector<std::int32_t> cuts;     // for Distance
  std::array<std::uint8_t, 4> merge;  // for the others: the class of each orientation
  bool times_distance;                // scores are per word of distance (Ni 2011, eq. 7)
  // Scores are log-probabilities, normalised over the classes that are possible at the step.
  std::optional<PossibleClasses> possible;
  // (kCoverageStates, classes): added to the scores in each coverage state (phrases/coverage_state.hh) before
  // normalisation; may be empty.
  std::span<const float> coverage{};
  // Scores are weighted sums over sparse features; values count the classes of steps, from which the values of sparse
  // features are derived elsewhere. Discontinuous steps also get the sum over the words that they skip: for words [a, b)
  // of a sentence it is between[b] - between[a] in the rows of the sentence, which has one row more than words. May be
  // empty.
  bool is_sparse = false;
  std::span<const float> between{};                // (words of all sentences + 1 for each, classes)
  std::span<const std::int64_t> source_offsets{};  // of the words of sentences

  std::size_t n_values() const { return weights.size(); }
  // Throws if scores, weights and classes do not match.
  void check() const;
  bool is_normalised() const { return possible || !coverage.empty(); }
  float weight(std::size_t column) const { return weights.size() == 1 ? weights[0] : weights[column]; }
};

class OrientationFeature : public FeatureDefaults {
 public:
  using Input = OptionScorer;
  OrientationFeature(const OptionScorer& scorer, const Sentence& sentence, const Limits&);

  // For Side::After: the first option with the row of the previous one.
  std::size_t n_state() const { return is_after() ? 1 : 0; }
  Needs needs(const Limits&) const;
  void prepare(const Step& step, const std::uint32_t* state, std::uint32_t& memo, float& score) {
    memo = step_class(step);
    if (is_after() && !step.first) score += row_score(step, *state, memo);
    if (between_ && memo >= kFirstDiscontinuous) score += between_score(step, memo);
    if (scorer_.is_normalised()) memo |= situation(step, memo) << kClassBits;
  }
  void guess(const Step& step, const std::uint32_t*, std::uint32_t memo, std::uint32_t option, float& score) const {
    if (!is_after()) score += row_score(step, option, memo);
  }
  void extend(const Step&, const std::uint32_t*, std::uint32_t, std::uint32_t option, std::uint32_t* after, float&) const {
    if (is_after()) *after = rows_[option];
  }
  void add_values(const Step& step, const GraphStep& way, std::uint32_t memo, float* columns) const;
  void add_class(const Step& step, std::uint32_t memo, std::vector<std::uint8_t>& classes) const {
    classes.push_back(is_after() && step.first ? kNoClass : static_cast<std::uint8_t>(class_of(memo)));
  }

 private:
  static constexpr std::uint32_t kFirstDiscontinuous = 2;  // after monotone and swap
  float between_score(const Step& step, std::uint32_t column) const {
    const bool forward = step.previous.end <= step.next.begin;
    const auto begin = to_size(forward ? step.previous.end : step.next.end);
    const auto end = to_size(forward ? step.next.begin : step.previous.begin);
    return between_[end * scorer_.n_classes + column] - between_[begin * scorer_.n_classes + column];
  }
  bool is_after() const { return scorer_.side == Side::After; }
  // A memo contains the class of the step and, above it, the situation for normalisation.
  static constexpr int kClassBits = 8;
  static std::uint32_t class_of(std::uint32_t memo) { return memo & ((1U << kClassBits) - 1); }
  std::uint32_t step_class(const Step& step) const;

  // Everything that the normaliser of a step depends on besides the option: the possible classes and the weights of the
  // coverage.
  struct Situation {
    std::uint32_t mask;
    const float* added;           // for each class; null without coverage
    std::vector<float> log_sums;  // by option; NaN if not computed yet
  };
  // The number of the step's situation, with its sums computed for the options of the step.
  std::uint32_t situation(const Step& step, std::uint32_t step_class);
  float score_in(const Situation& situation, std::uint32_t option, std::uint32_t column) const {
    const float score = scorer_.scores[sentence_.row(option) * scorer_.n_classes + column];
    return situation.added ? score + situation.added[column] : score;
  }
  float log_sum(const Situation& situation, std::uint32_t option) const;
  float normalised_score(std::uint32_t option, std::uint32_t memo) const;
  float row_score(const Step& step, std::uint32_t row, std::uint32_t memo) const {
    if (scorer_.is_normalised()) return scorer_.weight(class_of(memo)) * normalised_score(row, memo);
    const float score = weighted_[row * scorer_.n_classes + memo];
    return scorer_.times_distance ? score * static_cast<float>(jump_distance(step.previous, step.next)) : score;
  }

  const OptionScorer& scorer_;
  const Sentence& sentence_;
  const float* between_ = nullptr;   // of the sentence
  std::vector<float> weighted_;      // (options, classes)
  std::vector<std::uint32_t> rows_;  // by option, for Side::After: the first option with the same row
  std::vector<Situation> situations_;
  std::unordered_map<std::uint32_t, std::uint32_t> situation_numbers_;  // by mask and state of the coverage
};

}  // namespace hyperbaton
