// The search space of one sentence: its options by span, the score of a step, and equality of hypotheses.
//
// A hypothesis' state is a sequence of 32-bit words that contains everything the future depends on: coverage, the
// previous phrase, and the words of each feature. Hypotheses with equal states are recombined. The score of a step is a
// loop over the features.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/size.hh"
#include "decode/features.hh"
#include "decode/span_stack.hh"

namespace hyperbaton {

struct DecodeInput {
  const TranslationOptions& options;
  std::span<const std::int64_t> source_offsets;
  FeatureList features;
  std::span<const Wall> walls;  // by sentence
  std::span<const Zone> zones;  // by sentence
  ForcedView forced;

  // The number of values of a step: those of the features, then the option's own.
  std::size_t n_values() const { return features.n_values() + options.n_features; }
  // The feature that each value belongs to.
  std::vector<std::string> column_names() const;
};

class Space {
 public:
  Space(const DecodeInput& input, std::size_t sentence, const Limits& limits);
  ~Space();
  Space(const Space&) = delete;
  Space& operator=(const Space&) = delete;

  // Options [first, last) of the sentence, best estimate first.
  struct Span {
    SourceSpan source;
    std::uint32_t first, last;
  };
  // A step whose source span is known, with the data shared by all options of the span.
  struct Move {
    float score;                       // weighted, the part that does not depend on the option
    float future;                      // future cost after the step
    float ahead;                       // the part of it that is recomputed at each step
    Step step;                         // refers to the states before and after
    std::vector<std::uint32_t> words;  // the features' memos, then the state after the step
    std::size_t n_memos;

    // The state after the step; the options' part is filled in by apply.
    std::uint32_t* state() { return words.data() + n_memos; }
  };

  int n_words() const { return sentence_.n_words(); }
  std::span<const Span> spans_from(int begin) const {
    const auto i = to_size(begin);
    return std::span(spans_).subspan(span_offsets_[i], span_offsets_[i + 1] - span_offsets_[i]);
  }
  std::span<const WordId> target(std::uint32_t option) const { return sentence_.target(option); }

  std::size_t state_size() const { return state_size_; }
  void start(std::span<std::uint32_t> state) const;
  Coverage coverage(const std::uint32_t* state) const { return shared_.coverage(state); }

  // Where the previous phrase ended; whether the limits allow a phrase to start there after it, and whether they allow a
  // phrase at this uncovered span to follow.
  int previous_end(const std::uint32_t* state) const { return shared_.previous(state).end; }
  bool reachable(int previous_end, int begin) const { return limits_.reachable(previous_end, begin); }
  bool allowed(const std::uint32_t* state, int first_gap, SourceSpan next) const {
    return limits_.allowed(coverage(state), first_gap, next);
  }
  // Whether spans are skipped after some histories with the same coverage but not after others, and whether a given one
  // is.
  bool skips_spans() const { return jump_threshold_ > 0 || itg_; }
  bool skips(const std::uint32_t* state, int first_gap, SourceSpan next) {
    return (itg_ && !stacks_.can_become_one(state[at_stack_], next, coverage(state))) ||
           (jump_threshold_ > 0 && improbable(state, first_gap, next));
  }
  // Future cost of a coverage.
  float future(const std::uint32_t* state) const;
  void prepare(const std::uint32_t* state, float future, const Span& span, Move& move);
  // Weighted score of the option after the prepared move; completes move.state(). Returns false if a forced translation
  // forbids the option. Batched features are not included.
  bool apply(const std::uint32_t* state, std::uint32_t option, Move& move, float& score);
  // The cheap part of that score, for ordering.
  float guess(const std::uint32_t* state, std::uint32_t option, const Move& move) const;
  // Forget the target words in a state, all of them or all but the last.
  void hide_words(std::uint32_t* state);
  void shorten_words(std::uint32_t* state);
  // What the target words of a state change in the score of an option's first word.
  float correction(const std::uint32_t* state, std::uint32_t option);
  // The score of the end of the sentence.
  float finish(const std::uint32_t* state);
  bool complete(const std::uint32_t* state) const;  // the forced translation is complete

  bool has_batched() const { return features_.has_batched(); }
  // Call take(i, score) with the weighted score of each step by each batched feature.
  template <class Take>
  void ask_batched(std::span<const BatchedStep> steps, const Take& take) {
    features_.each_batched([&](auto& placed) {
      const auto scores = placed.feature.ask(steps, shared_, placed.state);
      for (std::size_t i = 0; i < steps.size(); ++i) take(i, scores[i] * placed.feature.weight());
    });
  }

  // Append unweighted values of each step of a whole translation, and a last row for the end of the sentence; returns the
  // weighted score.
  double add_path_values(std::span<const std::uint32_t> path, std::vector<float>& values);
  // The class of each step of a path by each feature with classes: (steps, features).
  std::vector<std::uint8_t> path_classes(std::span<const std::uint32_t> path);

 private:
  // Call visit(i, state, move, score) for each step of a path, with the state before it.
  template <class Visit>
  std::vector<std::uint32_t> walk(std::span<const std::uint32_t> path, const Visit& visit);
  // Whether jump models find a span improbable; monotone steps and steps that fill the first gap never are.
  bool improbable(const std::uint32_t* state, int first_gap, SourceSpan next);
  void find_spans();
  void fill_future();
  const Span& span_of(std::uint32_t option) const;
  float expected(const Span& span) const;
  float& future_cost(int begin, int end) { return future_[to_size(begin) * (to_size(n_words()) + 1) + to_size(end)]; }
  float future_cost(int begin, int end) const { return const_cast<Space&>(*this).future_cost(begin, end); }
  void add_values(const GraphStep& way, const Move& move, float* row) const;
  void add_batched_values(std::span<const BatchedStep> steps, float* rows);
  void add_end_values(const std::uint32_t* state, float* row) const;

  const DecodeInput& input_;
  const Sentence sentence_;
  const OrderLimits limits_;
  const float jump_threshold_;
  const bool itg_;
  const bool is_forced_;
  std::span<const WordId> forced_;

  std::vector<Span> spans_;
  std::vector<std::size_t> span_offsets_;
  std::vector<float> future_;  // of [begin, end), (n + 1)²
  SpanStacks stacks_;

  const SharedState shared_;
  FeatureSet features_;
  Needs needs_;
  std::size_t at_stack_, at_forced_, state_size_;
};

}  // namespace hyperbaton
