// Features of the search: a feature scores the steps of hypotheses, and keeps the history that it needs in its own words
// of the hypothesis' state.
//
// A kind of feature is one file in decode/features. It has an input, which lives for one call and contains the weights,
// and a class, which lives for one sentence. The class derives from FeatureDefaults and declares the functions it needs;
// omitted ones cost nothing, since nothing here is virtual. decode/features.hh lists the kinds.
#pragma once

#include <concepts>
#include <cstdint>
#include <vector>

#include "decode/sentence.hh"
#include "phrases/coverage.hh"

namespace hyperbaton {

// How steps are limited and charged.
struct Limits;

// Parts of the history that several features share. Hypotheses that differ only in parts that no feature needs are
// recombined.
struct Needs {
  bool end = false;            // where the previous phrase ended
  bool begin = false;          // where it began
  bool begin_at_swap = false;  // where it began, if the next phrase can end there
  bool stack = false;          // orientation towards the stack of translated spans

  Needs& operator|=(const Needs& other) {
    end |= other.end;
    begin |= other.begin;
    begin_at_swap |= other.begin_at_swap;
    stack |= other.stack;
    return *this;
  }
};

// The front of a hypothesis' state, shared by all features: coverage and the previous phrase. The features' own words
// follow.
class SharedState {
 public:
  explicit SharedState(int n_words) : n_words_(n_words), n_coverage_(Coverage::n_words(n_words)) {}

  std::size_t size() const { return n_coverage_ + 1; }
  std::size_t n_coverage() const { return n_coverage_; }
  Coverage coverage(const std::uint32_t* state) const { return {state, n_words_}; }
  SourceSpan previous(const std::uint32_t* state) const {
    return {static_cast<int>(state[n_coverage_] >> 16), static_cast<int>(state[n_coverage_] & 0xffff)};
  }
  void set_previous(std::uint32_t* state, SourceSpan phrase) const {
    state[n_coverage_] = static_cast<std::uint32_t>(phrase.begin) << 16 | static_cast<std::uint32_t>(phrase.end);
  }

 private:
  int n_words_;
  std::size_t n_coverage_;
};

// A step whose source span is known, but not yet its option. At the start of a sentence the previous phrase is empty at
// 0.
struct Step {
  Coverage before{nullptr, 0}, after{nullptr, 0};
  SourceSpan previous{0, 0}, next{0, 0};
  bool first = true;                                 // no previous phrase
  Orientation hierarchical = Orientation::Monotone;  // relative to the stack of translated spans, if a feature needs it
  std::uint32_t first_option = 0, last_option = 0;   // of the span
};

// A step of the search graph: the state before it, and an option that leads to that state (any option at the start).
struct GraphStep {
  const std::uint32_t* state;
  std::uint32_t before, option;
};

// A step for batched features; they fill in their part of the state after it.
struct BatchedStep {
  const std::uint32_t* before;
  std::uint32_t option;
  std::uint32_t* after;
};

constexpr std::uint8_t kNoClass = 0xff;

// States are the feature's own words. A `memo` is 32 bits that the feature sets when a step is prepared and receives
// again for each of its options. Scores are weighted and accumulate; values are not weighted, and columns are the
// feature's own. The order of calls for a sentence: start; for each step prepare, then for its options guess, or guess
// and extend; finish after the last. Several steps may be prepared before their options are scored, so a feature must
// keep step data in the memo.
struct FeatureDefaults {
  static constexpr bool kBatched = false;  // scored by ask(), many steps at once, instead of guess and extend

  std::size_t n_state() const { return 0; }
  Needs needs(const Limits&) const { return {}; }
  // The state at the start of the sentence; 0 by default.
  void start(std::uint32_t*) const {}
  // Estimated score of an option; part of the future cost.
  void estimate(std::uint32_t /*option*/, float&) const {}
  // Estimated score of the rest after the step, whatever the options: the part of the future cost that depends on the
  // coverage.
  void ahead(const Step&, float&) const {}
  // The probability that the next translated word lies in a span: the largest over the features that define one.
  void likelihood(const Coverage& /*before*/, const std::uint32_t* /*state*/, SourceSpan /*next*/, float& /*best*/) {}
  // The part of the score shared by all options of a span.
  void prepare(const Step&, const std::uint32_t* /*state*/, std::uint32_t& /*memo*/, float& /*score*/) {}
  // The cheap part of an option's score.
  void guess(const Step&, const std::uint32_t* /*state*/, std::uint32_t /*memo*/, std::uint32_t /*option*/, float&) const {}
  // The rest of the option's score, and the state after it.
  void extend(const Step&, const std::uint32_t* /*state*/, std::uint32_t /*memo*/, std::uint32_t /*option*/,
              std::uint32_t* /*after*/, float&) {}
  // The score of the end of the sentence.
  void finish(const std::uint32_t* /*state*/, float&) {}
  // Unweighted values of a prepared step, and of the end of the sentence.
  void add_values(const Step&, const GraphStep&, std::uint32_t /*memo*/, float* /*columns*/) const {}
  void add_end_values(const std::uint32_t* /*state*/, float* /*columns*/) const {}
  // Append the class of a prepared step, kNoClass if it has none; features without classes append nothing.
  void add_class(const Step&, std::uint32_t /*memo*/, std::vector<std::uint8_t>& /*classes*/) const {}
  // The sentence is finished: data kept for it elsewhere may be freed.
  void forget() {}
};

// A feature with one word of state that depends only on the last target words. Refined search groups hypotheses by what
// it knows of them: nothing, the last word, everything.
template <class F>
concept WordFeature = requires(F feature, std::uint32_t state, std::uint32_t option, float score) {
  { feature.shortened(state) } -> std::same_as<std::uint32_t>;  // a state that knows the last word only
  feature.correct(state, option, score);  // add what the state changes in the score of the option's first word
};

template <class F>
concept Feature = std::derived_from<F, FeatureDefaults> &&
                  std::constructible_from<F, const typename F::Input&, const Sentence&, const Limits&> &&
                  requires(const typename F::Input& input) {
                    { input.n_values() } -> std::convertible_to<std::size_t>;  // columns
                  };

}  // namespace hyperbaton
