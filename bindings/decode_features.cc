#include "decode_features.hh"

#include <nanobind/stl/array.h>
#include <nanobind/stl/vector.h>

namespace hyperbaton::bindings {

namespace {

class BoundDistance : public BoundFeature {
 public:
  explicit BoundDistance(float weight) : weight_(weight) {}
  FeatureInput input() const override { return WeightedDistance{weight_}; }

 private:
  float weight_;
};

struct GivenCoverage {
  std::optional<PossibleClasses> possible;
  std::optional<Array2<float>> weights;
};

class BoundOptionScorer : public BoundFeature {
 public:
  BoundOptionScorer(Array2<float> scores, const OptionScorer& scorer, std::optional<Array2<float>> coverage = {})
      : scorer_(scorer), scores_(std::move(scores)), coverage_(std::move(coverage)) {
    if (coverage_) scorer_.coverage = view(*coverage_);
    scorer_.scores = view(scores_);
    scorer_.n_classes = scores_.shape(1);
    scorer_.check();
  }
  FeatureInput input() const override { return scorer_; }
  void check(const TranslationOptions& options, std::span<const std::int64_t>) const override {
    if (scores_.shape(0) != options.size()) throw Error("there must be a row of scores for each option");
  }

 protected:
  OptionScorer scorer_;

 private:
  Array2<float> scores_;
  std::optional<Array2<float>> coverage_;
};

// Sums over sparse features, by option and class, and over the words that discontinuous steps skip.
class BoundSparseScorer : public BoundOptionScorer {
 public:
  BoundSparseScorer(Array2<float> scores, OptionScorer scorer, Array2<float> between, Ints source_offsets)
      : BoundOptionScorer(std::move(scores), scorer), between_(std::move(between)), offsets_(std::move(source_offsets)) {
    scorer_.between = view(between_);
    scorer_.source_offsets = view(offsets_);
    scorer_.check();
  }
  void check(const TranslationOptions& options, std::span<const std::int64_t> source_offsets) const override {
    BoundOptionScorer::check(options, source_offsets);
    if (!std::ranges::equal(view(offsets_), source_offsets)) throw Error("the sparse features belong to a different text");
  }

 private:
  Array2<float> between_;
  Ints offsets_;
};

class BoundJumpScorer : public BoundFeature {
 public:
  BoundJumpScorer(Floats matrices, Ints offsets, float weight, bool inside, bool remaining, std::optional<Floats> classes)
      : matrices_(std::move(matrices)),
        offsets_(std::move(offsets)),
        classes_(std::move(classes)),
        scorer_{.matrices = view(matrices_),
                .offsets = view(offsets_),
                .weight = weight,
                .inside = inside,
                .remaining = remaining,
                .classes = classes_ ? view(*classes_) : std::span<const float>{}} {}
  FeatureInput input() const override { return scorer_; }
  void check(const TranslationOptions&, std::span<const std::int64_t> source_offsets) const override {
    scorer_.check(source_offsets);
  }

 private:
  Floats matrices_;
  Ints offsets_;
  std::optional<Floats> classes_;
  JumpScorer scorer_;
};

// A step scorer that calls a Python callable(batch) → (scores, states).
class PythonSteps : public BoundSteps {
 public:
  PythonSteps(nb::callable function, float weight) : BoundSteps(weight), function_(std::move(function)) {}
  void score(const StepBatch& steps, std::span<float> scores, std::span<std::int64_t> states) const override {
    const nb::gil_scoped_acquire acquire;
    const std::size_t n = steps.size(), n_words = Coverage::n_words(steps.n_words);
    std::vector<std::uint8_t> coverage;
    for (std::size_t k = 0; k < n; ++k) {
      const Coverage covered(steps.coverage.data() + k * n_words, steps.n_words);
      for (int i = 0; i < steps.n_words; ++i) coverage.push_back(covered[i]);
    }
    const auto result = nb::cast<nb::tuple>(
        function_(steps.sentence, to_numpy(std::vector(steps.states)),
                  to_numpy(std::move(coverage), std::max<std::size_t>(static_cast<std::size_t>(steps.n_words), 1)),
                  to_numpy(std::vector(steps.previous_begin)), to_numpy(std::vector(steps.previous_end)),
                  to_numpy(std::vector(steps.options))));
    if (result.size() != 2) throw Error("a step scorer must return scores and states");
    const auto new_scores = nb::cast<Floats>(result[0]);
    const auto new_states = nb::cast<Ints>(result[1]);
    if (new_scores.size() != n || new_states.size() != n)
      throw Error("a step scorer must return as many scores and states as there are steps");
    std::ranges::copy(view(new_scores), scores.begin());
    std::ranges::copy(view(new_states), states.begin());
  }

 private:
  nb::callable function_;
};

}  // namespace

BoundLm::BoundLm(const NgramModel& model, float weight, Words words, Words new_words)
    : words_(std::move(words)),
      new_words_(std::move(new_words)),
      lm_{.model = model, .weight = weight, .words = view(words_), .new_words = view(new_words_)} {}

HYPERBATON_BINDINGS(decode_features) {
  using namespace nb::literals;

  nb::class_<BoundFeature>(m, "Feature", "A feature of the search with its weights.");

  nb::class_<BoundDistance, BoundFeature>(m, "Distance", "The distance of each step in source words.")
      .def(nb::init<float>(), nb::kw_only(), "weight"_a);

  nb::class_<BoundLm, BoundFeature>(
      m, "WeightedLm", "A language model with its weight and its numbers of the table's target words and of new ones.")
      .def(nb::init<const NgramModel&, float, Words, Words>(), nb::kw_only(), "model"_a, "weight"_a, "words"_a,
           "new_words"_a, nb::keep_alive<1, 2>());

  nb::enum_<StepRule>(m, "StepRule", "How the class of a step is determined.")
      .value("distance", StepRule::Distance)
      .value("neighbour", StepRule::Neighbour)
      .value("hierarchical", StepRule::Hierarchical);

  nb::class_<GivenCoverage>(m, "GivenCoverage", "How class scores are normalised at a step, given the coverage.")
      .def(
          "__init__",
          [](GivenCoverage* self, const PossibleClasses* possible, std::optional<Array2<float>> weights) {
            new (self) GivenCoverage{.possible = {}, .weights = std::move(weights)};
            if (possible) self->possible = *possible;
          },
          nb::kw_only(), "possible"_a.none(), "weights"_a.none(),
          "Over the possible classes or all; with or without added weights (coverage states, classes).");
  nb::class_<BoundOptionScorer, BoundFeature>(m, "OptionScorer", "Scores of the classes of options.")
      .def(
          "__init__",
          [](BoundOptionScorer* self, Array2<float> scores, std::vector<float> weights, StepRule rule, Side side,
             std::vector<std::int32_t> cuts, const std::array<std::uint8_t, 4>& merge, bool times_distance,
             const GivenCoverage* given) {
            const OptionScorer scorer{.scores = {},
                                      .n_classes = 0,
                                      .weights = std::move(weights),
                                      .rule = rule,
                                      .side = side,
                                      .cuts = std::move(cuts),
                                      .merge = merge,
                                      .times_distance = times_distance,
                                      .possible = given ? given->possible : std::nullopt};
            new (self) BoundOptionScorer(std::move(scores), scorer, given ? given->weights : std::nullopt);
          },
          nb::kw_only(), "scores"_a, "weights"_a, "rule"_a, "side"_a, "cuts"_a, "merge"_a, "times_distance"_a,
          "given"_a.none());

  nb::class_<BoundSparseScorer, BoundFeature>(m, "SparseScorer", "Weighted sums over sparse features of steps.")
      .def(
          "__init__",
          [](BoundSparseScorer* self, Array2<float> scores, StepRule rule, Side side,
             const std::array<std::uint8_t, 4>& merge, Array2<float> between, Ints source_offsets) {
            const OptionScorer scorer{.scores = {},
                                      .n_classes = 0,
                                      .weights = std::vector<float>(scores.shape(1), 1.0F),
                                      .rule = rule,
                                      .side = side,
                                      .cuts = {},
                                      .merge = merge,
                                      .times_distance = false,
                                      .possible = {},
                                      .coverage = {},
                                      .is_sparse = true};
            new (self) BoundSparseScorer(std::move(scores), scorer, std::move(between), std::move(source_offsets));
          },
          nb::kw_only(), "scores"_a, "rule"_a, "side"_a, "merge"_a, "between"_a, "source_offsets"_a);

  nb::class_<BoundJumpScorer, BoundFeature>(m, "JumpScorer", "Scores of jumps from the last source word to the next one.")
      .def(nb::init<Floats, Ints, float, bool, bool, std::optional<Floats>>(), nb::kw_only(), "matrices"_a, "offsets"_a,
           "weight"_a, "inside"_a, "remaining"_a, "classes"_a.none());

  nb::class_<BoundSteps, BoundFeature>(m, "StepScorer", "Scores of steps.");
  nb::class_<PythonSteps, BoundSteps>(m, "PythonSteps", "Scores of steps by a Python callable.")
      .def(nb::init<nb::callable, float>(), nb::kw_only(), "function"_a, "weight"_a);
}

}  // namespace hyperbaton::bindings
