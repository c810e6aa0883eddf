#include "decode/decode.hh"

#include <nanobind/stl/vector.h>

#include "module.hh"
#include "steps.hh"
#include "table.hh"

namespace hyperbaton::bindings {

namespace {

using Bytes = Array<std::uint8_t>;
using Floats = Array<float>;

// What the options of all sentences are looked up in, with the arrays it stands on.
struct LookupTable {
  TableArrays table;
  Array2<float> scores;
  Words index;
  std::size_t n_target_words;

  PairsView pairs() const { return table.pairs(); }
};

// A language model with the arrays it stands on.
struct BoundLm {
  NgramModel model;
  float weight;
  Words words;
  WeightedLm lm() const { return {model, weight, view(words)}; }
};

std::vector<WeightedLm> view_lms(const std::vector<const BoundLm*>& bound) {
  std::vector<WeightedLm> lms;
  for (const auto* lm : bound) lms.push_back(lm->lm());
  return lms;
}

ForcedView view_forced(const Words& words, const Ints& offsets, std::size_t n) {
  if (offsets.size() != 0 && offsets.size() != n + 1) throw Error("a translation for each sentence is needed");
  return {view(words), view(offsets)};
}

struct BoundOptionScorer {
  Array2<float> scores;
  OptionScorer scorer;
};
struct BoundJumpScorer {
  Floats matrices;
  Ints offsets;
  JumpScorer scorer;
};

// A Python callable(batch) → (scores, states) as a scorer of steps.
class PythonSteps : public BoundSteps {
 public:
  PythonSteps(nb::callable function, float weight_) : BoundSteps(weight_), function_(std::move(function)) {}
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
    if (result.size() != 2) throw Error("a scorer of steps must return scores and states");
    const auto given_scores = nb::cast<Array<float>>(result[0]);
    const auto given_states = nb::cast<Array<std::int64_t>>(result[1]);
    if (given_scores.size() != n || given_states.size() != n)
      throw Error("a scorer of steps must return as many scores and states as there are steps");
    std::ranges::copy(view(given_scores), scores.begin());
    std::ranges::copy(view(given_states), states.begin());
  }

 private:
  nb::callable function_;
};

// Properties keep their object alive, and so what these arrays look at.
template <class T>
Array<T> borrowed(const std::vector<T>& values) {
  return Array<T>(values.data(), {values.size()});
}
template <class T>
Array2<T> borrowed(const std::vector<T>& values, std::size_t width) {
  return Array2<T>(values.data(), {values.size() / width, width});
}

struct BoundOptions {
  Options options;
};

}  // namespace

HYPERBATON_BINDINGS(decode) {
  using namespace nb::literals;

  m.def(
      "build_phrase_index",
      [](const Ints& offsets, const Words& words) {
        std::vector<std::uint32_t> index;
        {
          const nb::gil_scoped_release release;
          index = build_phrase_index({view(offsets), view(words)});
        }
        return to_numpy(std::move(index));
      },
      "offsets"_a, "words"_a, "Hash slots that find the number of a phrase.");

  nb::class_<LookupTable>(m, "LookupTable", "A phrase table as the decoder looks phrases up.")
      .def(
          "__init__",
          [](LookupTable* self, Ints source_offsets, Words source_words, Ints target_offsets, Words target_words,
             Ints offsets, Words targets, Array2<float> scores, Ints link_offsets, Array2<std::uint8_t> links, Words index,
             std::size_t n_target_words) {
            const TableArrays table{source_offsets, source_words, target_offsets, target_words,
                                    offsets,        targets,      link_offsets,   links};
            new (self) LookupTable{table, scores, index, n_target_words};
            const auto pairs = self->pairs();
            if (pairs.offsets.size() != pairs.source.offsets.size() || scores.shape(0) != targets.size() ||
                link_offsets.size() != targets.size() + 1)
              throw Error("the arrays of the phrase table do not fit each other: build the system again");
            PhraseIndex(view(index), pairs.source);
          },
          nb::kw_only(), "source_offsets"_a, "source_words"_a, "target_offsets"_a, "target_words"_a, "offsets"_a,
          "targets"_a, "scores"_a, "link_offsets"_a, "links"_a, "index"_a, "n_target_words"_a);

  nb::class_<RankCache>(m, "RankCache", "The best pairs of frequent phrases, for one table, limit and set of weights.")
      .def(nb::init<>());

  nb::class_<BoundLm>(m, "WeightedLm", "A language model with its weight, and its number of each target word.")
      .def(
          "__init__",
          [](BoundLm* self, const NgramModel& model, float weight, Words words) {
            for (const auto word : view(words))
              if (word >= model.n_words()) throw Error("a word is not one of the language model");
            new (self) BoundLm{model, weight, words};
          },
          nb::kw_only(), "model"_a, "weight"_a, "words"_a, nb::keep_alive<1, 2>());

  nb::class_<BoundOptions>(m, "TranslationOptions", "Translation options of sentences, as columns.")
      .def_prop_ro("n_features", [](const BoundOptions& self) { return self.options.n_features; })
#define COLUMN(name) .def_prop_ro(#name, [](const BoundOptions& self) { return borrowed(self.options.name); })
      // clang-format off
      COLUMN(offsets) COLUMN(sentence) COLUMN(begin) COLUMN(length) COLUMN(pair) COLUMN(target_offsets)
      COLUMN(target_words) COLUMN(link_offsets) COLUMN(score) COLUMN(estimate)
  // clang-format on
#undef COLUMN
      .def_prop_ro("links",
                   [](const BoundOptions& self) {
                     const auto& links = self.options.links;
                     return Array2<std::uint16_t>(reinterpret_cast<const std::uint16_t*>(links.data()), {links.size(), 2});
                   })
      .def_prop_ro("features",
                   [](const BoundOptions& self) { return borrowed(self.options.features, self.options.n_features); });

  m.def(
      "find_options",
      [](const LookupTable& table, RankCache& cache, const Words& tokens, const Ints& offsets, const Words& copies,
         const std::vector<const BoundLm*>& lms, const Floats& weights, const Array2<std::int64_t>& demands,
         const Ints& demand_offsets, const Words& demand_words, const Words& forced_words, const Ints& forced_offsets,
         std::size_t table_limit, int max_length, bool drop_unknown, unsigned n_threads) {
        const auto pairs = table.pairs();
        if (weights.size() != table.scores.shape(1) + kOwnFeatures) throw Error("a weight for each score is needed");
        if (copies.size() != tokens.size()) throw Error("a target word for each source word is needed");
        std::vector<Demand> spans;
        for (std::size_t i = 0; i < demands.shape(0); ++i)
          spans.push_back({static_cast<std::uint32_t>(demands(i, 0)), static_cast<std::uint16_t>(demands(i, 1)),
                           static_cast<std::uint16_t>(demands(i, 2))});
        const auto views = view_lms(lms);
        for (const auto& lm : views)
          if (lm.words.size() < table.n_target_words)
            throw Error("a language model's number of each target word is needed");
        const OptionsInput input{{view(tokens), view(offsets)},
                                 view(copies),
                                 pairs,
                                 table.n_target_words,
                                 {table.scores.data(), table.scores.size()},
                                 table.scores.shape(1),
                                 PhraseIndex(view(table.index), pairs.source),
                                 views,
                                 view(weights),
                                 {spans, view(demand_offsets), view(demand_words)},
                                 view_forced(forced_words, forced_offsets, offsets.size() - 1)};
        BoundOptions found;
        {
          const nb::gil_scoped_release release;
          found.options = find_options(input, {table_limit, max_length, drop_unknown, n_threads}, cache, {});
        }
        return found;
      },
      nb::kw_only(), "table"_a, "cache"_a, "tokens"_a, "offsets"_a, "copies"_a, "lms"_a, "weights"_a, "demands"_a,
      "demand_offsets"_a, "demand_words"_a, "forced_words"_a, "forced_offsets"_a, "table_limit"_a, "max_length"_a,
      "drop_unknown"_a, "n_threads"_a, "Translation options of sentences.");

  nb::enum_<StepRule>(m, "StepRule", "By what the class of a step is decided.")
      .value("distance", StepRule::Distance)
      .value("neighbour", StepRule::Neighbour)
      .value("block", StepRule::Block);

  nb::class_<BoundOptionScorer>(m, "OptionScorer", "Scores of the classes of options.")
      .def(
          "__init__",
          [](BoundOptionScorer* self, Array2<float> scores, std::vector<float> weights, StepRule rule, Side side,
             std::vector<std::int32_t> cuts, const std::vector<std::uint8_t>& merge, bool times_distance) {
            const std::size_t n = scores.shape(1);
            if (weights.size() != 1 && weights.size() != n) throw Error("one weight, or one for each class, is needed");
            if (merge.size() != 4 || *std::ranges::max_element(merge) >= (rule == StepRule::Distance ? 256 : n) ||
                (rule == StepRule::Distance && cuts.size() + 1 != n))
              throw Error("the scores have another number of classes than the orientation set");
            new (self) BoundOptionScorer{
                scores,
                {{scores.data(), scores.size()}, n, std::move(weights), rule, side, std::move(cuts), {}, times_distance}};
            std::ranges::copy(merge, self->scorer.merge.begin());
          },
          nb::kw_only(), "scores"_a, "weights"_a, "rule"_a, "side"_a, "cuts"_a, "merge"_a, "times_distance"_a)
      .def_prop_ro("n_features", [](const BoundOptionScorer& self) { return self.scorer.n_values(); });

  nb::class_<BoundJumpScorer>(m, "JumpScorer", "Scores of jumps from the last source word to the next one.")
      .def(
          "__init__",
          [](BoundJumpScorer* self, Floats matrices, Ints offsets, float weight, bool inside) {
            new (self) BoundJumpScorer{matrices, offsets, {view(matrices), view(offsets), weight, inside}};
          },
          nb::kw_only(), "matrices"_a, "offsets"_a, "weight"_a, "inside"_a);

  nb::class_<BoundSteps>(m, "StepScorer", "Scores of steps.");
  nb::class_<PythonSteps, BoundSteps>(m, "PythonSteps", "Scores of steps by a Python callable.")
      .def(nb::init<nb::callable, float>(), nb::kw_only(), "function"_a, "weight"_a);

  m.def(
      "decode",
      [](const BoundOptions& options, const Ints& source_offsets, const std::vector<const BoundLm*>& lms,
         float distortion_weight, const std::vector<const BoundOptionScorer*>& option_scorers,
         const std::vector<const BoundJumpScorer*>& jump_scorers, const std::vector<const BoundSteps*>& step_scorers,
         const Array2<std::int64_t>& walls, const Array2<std::int64_t>& zones, const Words& forced_words,
         const Ints& forced_offsets, bool cube, std::size_t stack, double log_threshold, std::size_t pop_limit,
         int distortion_limit, bool early_distortion, bool future_distortion, std::size_t n_best, bool distinct,
         std::size_t n_best_factor, const Array2<double>& directions, std::size_t max_steps, bool relax, bool graph,
         unsigned n_threads, const std::optional<nb::callable>& progress) {
        const auto report = make_progress(progress);
        const auto views = view_lms(lms);
        const std::size_t n = source_offsets.size() - 1;
        if (options.options.offsets.size() != n + 1) throw Error("the options are those of another text");
        DecodeInput input{options.options, view(source_offsets), {}, {}, {}, view_forced(forced_words, forced_offsets, n)};
        input.features.add("", WeightedDistance{distortion_weight});
        for (const auto& lm : views) input.features.add("", lm);
        for (const auto* bound : option_scorers) {
          if (bound->scores.shape(0) != options.options.size()) throw Error("a row of scores for each option is needed");
          input.features.add("", bound->scorer);
        }
        for (const auto* bound : jump_scorers) {
          const auto offsets = bound->scorer.offsets;
          if (offsets.size() != n + 1 || offsets[n] != static_cast<std::int64_t>(bound->matrices.size()))
            throw Error("a matrix of jumps for each sentence is needed");
          for (std::size_t s = 0; s < n; ++s) {
            const auto side = source_offsets(s + 1) - source_offsets(s) + 1;
            if (offsets[s + 1] - offsets[s] != side * side)
              throw Error("a matrix of jumps must have a row and a column more than the sentence has words");
          }
          input.features.add("", bound->scorer);
        }
        for (const auto* bound : step_scorers) input.features.add("", WeightedSteps{bound, bound->weight});
        std::vector<Wall> wall_rows;
        for (std::size_t i = 0; i < walls.shape(0); ++i)
          wall_rows.push_back({static_cast<std::uint32_t>(walls(i, 0)), static_cast<std::uint16_t>(walls(i, 1))});
        std::vector<Zone> zone_rows;
        for (std::size_t i = 0; i < zones.shape(0); ++i)
          zone_rows.push_back({static_cast<std::uint32_t>(zones(i, 0)), static_cast<std::uint16_t>(zones(i, 1)),
                               static_cast<std::uint16_t>(zones(i, 2))});
        if (directions.size() > 0 && directions.shape(1) != input.n_values())
          throw Error("a direction needs a value for each feature");
        if (max_steps < 1) throw Error("at least one step must be looked at");
        input.walls = wall_rows;
        input.zones = zone_rows;
        const DecodeOptions how{
            {cube, {stack, log_threshold}, pop_limit, {distortion_limit, true, {early_distortion, future_distortion}}},
            {n_best, distinct, n_best_factor},
            {{directions.data(), directions.size()}, input.n_values(), max_steps},
            relax,
            graph,
            n_threads};
        Decoded decoded;
        {
          const nb::gil_scoped_release release;
          decoded = decode(input, how, report);
        }
        std::vector<std::int64_t> counts;
        for (const auto& count : decoded.counts)
          counts.insert(counts.end(), {count.hypotheses, count.spans, count.spans_cut});
        nb::dict columns;
        columns["path_offsets"] = to_numpy(std::move(decoded.path_offsets));
        columns["step_offsets"] = to_numpy(std::move(decoded.step_offsets));
        columns["options"] = to_numpy(std::move(decoded.options));
        columns["scores"] = to_numpy(std::move(decoded.scores));
        columns["features"] = to_numpy(std::move(decoded.features), decoded.n_features);
        columns["relaxed"] = to_numpy(std::move(decoded.relaxed));
        columns["counts"] = to_numpy(std::move(counts), 3);
        std::vector<std::int64_t> places;
        std::vector<double> values;
        for (const auto& row : decoded.graph) {
          places.insert(places.end(), {row.hypothesis, row.stack, row.back, row.recombined, row.option});
          values.insert(values.end(), {row.score, row.transition, row.best});
        }
        columns["graph_offsets"] = to_numpy(std::move(decoded.graph_offsets));
        columns["graph_places"] = to_numpy(std::move(places), 5);
        columns["graph_scores"] = to_numpy(std::move(values), 3);
        return columns;
      },
      nb::kw_only(), "options"_a, "source_offsets"_a, "lms"_a, "distortion_weight"_a, "option_scorers"_a, "jump_scorers"_a,
      "step_scorers"_a, "walls"_a, "zones"_a, "forced_words"_a, "forced_offsets"_a, "cube"_a, "stack"_a, "log_threshold"_a,
      "pop_limit"_a, "distortion_limit"_a, "early_distortion"_a, "future_distortion"_a, "n_best"_a, "distinct"_a,
      "n_best_factor"_a, "directions"_a, "max_steps"_a, "relax"_a, "graph"_a, "n_threads"_a, "progress"_a.none(),
      "The best translations of sentences, as columns.");
}

}  // namespace hyperbaton::bindings
