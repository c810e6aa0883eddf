#include "decode/decode.hh"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include "decode/best_phrases.hh"
#include "decode_input.hh"

namespace hyperbaton::bindings {

namespace {

nb::dict to_dict(Decoded&& decoded) {
  std::vector<std::int64_t> places;
  std::vector<double> values;
  for (const auto& row : decoded.graph) {
    places.insert(places.end(), {row.hypothesis, row.stack, row.back, row.recombined, row.option});
    values.insert(values.end(), {row.score, row.transition, row.best});
  }
  nb::dict columns;
  columns["path_offsets"] = to_numpy(std::move(decoded.path_offsets));
  columns["step_offsets"] = to_numpy(std::move(decoded.step_offsets));
  columns["options"] = to_numpy(std::move(decoded.options));
  columns["scores"] = to_numpy(std::move(decoded.scores));
  columns["features"] = to_numpy(std::move(decoded.features), decoded.n_features);
  columns["relaxed"] = to_numpy(std::move(decoded.relaxed));
  columns["counts"] = rows_to_numpy<std::int64_t>(std::move(decoded.counts));
  columns["graph_offsets"] = to_numpy(std::move(decoded.graph_offsets));
  columns["graph_places"] = to_numpy(std::move(places), 5);
  columns["graph_scores"] = to_numpy(std::move(values), 3);
  return columns;
}

}  // namespace

HYPERBATON_BINDINGS(decode) {
  using namespace nb::literals;

  nb::class_<BoundInput>(m, "DecodeInput", "Sentences with their options, and the features by which they are searched.")
      .def(nb::init<const BoundOptions&, Ints, const BoundInput::NamedFeatures&, const WallRows&, const SpanRows&,
                    const BoundTokens*>(),
           nb::kw_only(), "options"_a, "source_offsets"_a, "features"_a, "walls"_a, "zones"_a, "forced"_a.none(),
           nb::keep_alive<1, 2>())
      .def_prop_ro(
          "columns", [](const BoundInput& self) { return self.input().column_names(); },
          "The feature name of each column of values.")
      .def_prop_ro(
          "class_columns", [](const BoundInput& self) { return self.input().features.class_names(); },
          "The feature name of each column of classes.");

  nb::enum_<FutureJumps>(m, "FutureJumps", "The contribution of jumps into remaining phrases to the future cost.")
      .value("none", FutureJumps::None)
      .value("bound", FutureJumps::Bound)
      .value("expected", FutureJumps::Expected);

  nb::class_<Limits>(m, "Limits", "Limits on steps, and how distances and jumps are charged.")
      .def(
          "__init__",
          [](Limits* self, int distortion, bool early_distortion, bool future_distortion, FutureJumps future_jumps,
             float jump_threshold, bool itg) {
            new (self) Limits{.distortion = distortion,
                              .constraints = true,
                              .distance = {.early = early_distortion, .future = future_distortion},
                              .future_jumps = future_jumps,
                              .jump_threshold = jump_threshold,
                              .itg = itg};
          },
          nb::kw_only(), "distortion"_a, "early_distortion"_a, "future_distortion"_a, "future_jumps"_a, "jump_threshold"_a,
          "itg"_a);

  nb::enum_<SearchKind>(m, "SearchKind", "How the stacks of the search are filled.")
      .value("stack", SearchKind::Stack)
      .value("cube", SearchKind::Cube)
      .value("refine", SearchKind::Refine);

  nb::class_<SearchSettings>(m, "SearchSettings", "Settings of the search.")
      .def(
          "__init__",
          [](SearchSettings* self, SearchKind kind, std::size_t stack, double log_threshold, std::size_t pop_limit,
             const Limits& limits) {
            new (self) SearchSettings{.kind = kind,
                                      .beam = {.size = stack, .log_threshold = log_threshold},
                                      .pop_limit = pop_limit,
                                      .limits = limits};
          },
          nb::kw_only(), "kind"_a, "stack"_a, "log_threshold"_a, "pop_limit"_a, "limits"_a);

  nb::class_<NBestSettings>(m, "NBestSettings", "Settings of n-best lists.")
      .def(
          "__init__",
          [](NBestSettings* self, std::size_t n, bool distinct, std::size_t factor) {
            new (self) NBestSettings{.n = n, .distinct = distinct, .factor = factor};
          },
          nb::kw_only(), "n"_a, "distinct"_a, "factor"_a);

  nb::class_<DecodeSettings>(m, "DecodeSettings", "Settings of the search and of its results.")
      .def(
          "__init__",
          [](DecodeSettings* self, const SearchSettings& search, const NBestSettings& n_best, bool relax, bool graph,
             unsigned n_threads) {
            new (self)
                DecodeSettings{.search = search, .n_best = n_best, .relax = relax, .graph = graph, .n_threads = n_threads};
          },
          nb::kw_only(), "search"_a, "n_best"_a, "relax"_a, "graph"_a, "n_threads"_a);

  m.def(
      "decode",
      [](const BoundInput& input, const DecodeSettings& settings, const Progress& progress) {
        return to_dict(without_gil([&] { return decode(input.input(), settings, progress); }));
      },
      "input"_a, "settings"_a, "progress"_a.none(), "The best translations of sentences, as columns.");

  nb::class_<BestPhrases>(m, "BestPhrases", "The phrases of the best translation of each sentence.")
      .def(
          "__init__",
          [](BestPhrases* self, const Ints& pieces, const Ints& path_offsets, const Ints& step_offsets, const Ints& steps) {
            new (self) BestPhrases(view(pieces), view(path_offsets), view(step_offsets), view(steps));
          },
          nb::kw_only(), "pieces"_a, "path_offsets"_a, "step_offsets"_a, "steps"_a)
      .def(
          "lines",
          [](const BestPhrases& self, const BoundTokens& phrases, const Spelling& words) {
            const auto lines = self.lines(spelled(phrases, words));
            return nb::bytes(lines.data(), lines.size());
          },
          "phrases"_a, "words"_a, "The sentences as lines of text.")
      .def(
          "links",
          [](const BestPhrases& self, const Array2<std::uint16_t>& points, const Ints& offsets, const Shorts& begins,
             const Ints& target_offsets, const Ints& source_offsets) {
            auto links = self.links(view_links(points, offsets), view(begins), view(target_offsets), view(source_offsets));
            return nb::make_tuple(to_numpy(std::move(links.points)), to_numpy(std::move(links.offsets)));
          },
          nb::kw_only(), "points"_a, "offsets"_a, "begins"_a, "target_offsets"_a, "source_offsets"_a,
          "The links inside the phrases, shifted to the sentences: points, and where those of each sentence begin.");

  m.def(
      "last_step_values",
      [](const BoundInput& input, std::size_t sentence, const std::vector<std::vector<std::int64_t>>& paths) {
        if (sentence + 1 >= input.input().source_offsets.size()) throw Error("there is no such sentence");
        return to_numpy(last_step_values(input.input(), sentence, paths), input.input().n_values());
      },
      "input"_a, "sentence"_a, "paths"_a,
      "Unweighted values (n_paths, n_columns) of the last step of paths (options by row), which need not be complete.");

  m.attr("NO_CLASS") = kNoClass;
  m.def(
      "step_classes",
      [](const BoundInput& input, std::size_t sentence, const std::vector<std::int64_t>& path) {
        if (sentence + 1 >= input.input().source_offsets.size()) throw Error("there is no such sentence");
        return to_numpy(step_classes(input.input(), sentence, path),
                        std::max<std::size_t>(input.input().features.class_names().size(), 1));
      },
      "input"_a, "sentence"_a, "path"_a,
      "Classes (n_steps, n_class_columns) of the steps of a path (options by row); NO_CLASS if a step has none.");
}

}  // namespace hyperbaton::bindings
