#include "decode_options.hh"

#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include "decode_features.hh"

namespace hyperbaton::bindings {

namespace {

// The input of the look-up of options, with its arrays.
struct LookupTable {
  TableArrays table;
  ScoreArrays scores;
  Words ranks;
  std::size_t n_target_words;

  PairsView pairs() const { return table.pairs(); }
};

std::vector<WeightedLm> views_of(const std::vector<const BoundLm*>& lms, const LookupTable& table) {
  std::vector<WeightedLm> views;
  for (const auto* lm : lms) {
    views.push_back(lm->lm());
    if (views.back().words.size() < table.n_target_words)
      throw Error("a language model must have a number for each target word");
  }
  return views;
}

// The input of a look-up without sentences.
LookupInput input_of(const LookupTable& table, const std::vector<WeightedLm>& lms, const Floats& weights) {
  const auto pairs = table.pairs();
  const auto scores = table.scores.scores();
  if (weights.size() != scores.n() + kOwnFeatures) throw Error("there must be a weight for each score");
  return {.source = {},
          .copies = {},
          .table = pairs,
          .n_target_words = table.n_target_words,
          .scores = scores,
          .finder = PhraseFinder(view(table.ranks), pairs.source),
          .lms = lms,
          .weights = view(weights),
          .demands = {},
          .forced = {}};
}

// Properties keep their object alive, and so the memory of these arrays.
template <class T>
Array<T> borrowed(const std::vector<T>& values) {
  return Array<T>(values.data(), {values.size()});
}
template <class T>
Array2<T> borrowed(const std::vector<T>& values, std::size_t width) {
  return Array2<T>(values.data(), {values.size() / width, width});
}

}  // namespace

HYPERBATON_BINDINGS(decode_options) {
  using namespace nb::literals;

  nb::class_<LookupTable>(m, "LookupTable", "A phrase table for look-ups by the decoder.")
      .def(
          "__init__",
          [](LookupTable* self, const TableArrays& table, ScoreArrays scores, Words ranks, std::size_t n_target_words) {
            new (self) LookupTable{.table = table, .scores = scores, .ranks = ranks, .n_target_words = n_target_words};
            const auto pairs = self->pairs();
            if (pairs.offsets.size() != pairs.source.size() + 1 || !scores.fits(pairs) ||
                pairs.links.numbers.size() != pairs.targets.size())
              throw Error("the arrays of the phrase table do not match: build the system again");
            PhraseFinder(view(ranks), pairs.source);
          },
          nb::kw_only(), "table"_a, "scores"_a, "ranks"_a, "n_target_words"_a);

  nb::class_<RankCaches>(m, "RankCache", "The best pairs of frequent phrases, for one table, limit and set of weights.")
      .def(nb::init<>());

  nb::class_<SourceTokens>(m, "SourceTokens",
                           "Source sentences, and the target word used for each token that is passed through.")
      .def(
          "__init__",
          [](SourceTokens* self, const BoundTokens& tokens, Words copies) {
            if (copies.size() != tokens.words.size()) throw Error("there must be a target word for each source word");
            new (self) SourceTokens{.tokens = tokens, .copies = std::move(copies)};
          },
          nb::kw_only(), "tokens"_a, "copies"_a);

  nb::class_<BoundDemands>(m, "Demands", "Required translations of spans (sentence, begin, end), by sentence.")
      .def(
          "__init__",
          [](BoundDemands* self, const SpanRows& spans, const BoundTokens& words) {
            if (words.offsets.size() != spans.size() + 1)
              throw Error("there must be a span and a translation for each demand");
            new (self) BoundDemands{.spans = spans_of<Demand>(spans), .words = words};
          },
          nb::kw_only(), "spans"_a, "words"_a);

  nb::class_<LookupSettings>(m, "LookupSettings", "Settings of the look-up of translation options.")
      .def(
          "__init__",
          [](LookupSettings* self, std::size_t table_limit, int max_length, bool drop_unknown, unsigned n_threads) {
            new (self) LookupSettings{
                .table_limit = table_limit, .max_length = max_length, .drop_unknown = drop_unknown, .n_threads = n_threads};
          },
          nb::kw_only(), "table_limit"_a, "max_length"_a, "drop_unknown"_a, "n_threads"_a);

  // The features of the options themselves, in column order: one name for all scores of the table, then a name for each
  // of the others.
  m.def("table_feature", [] { return kTableFeature; }, "The feature name of the phrase table's scores.");
  m.def(
      "own_features", [] { return std::vector<std::string_view>(kOwnFeatureNames.begin(), kOwnFeatureNames.end()); },
      "The names of the features after the table's, in column order.");

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
      [](const LookupTable& table, RankCaches& caches, const SourceTokens& source, const std::vector<const BoundLm*>& lms,
         const Floats& weights, const BoundDemands& demands, const BoundTokens* forced, const LookupSettings& settings) {
        const auto views = views_of(lms, table);
        auto input = input_of(table, views, weights);
        input.source = source.tokens.tokens();
        input.copies = view(source.copies);
        input.demands = demands.demands();
        input.forced = view_forced(forced, input.source.offsets.size() - 1);
        return without_gil([&] { return BoundOptions{find_options(input, settings, caches.options)}; });
      },
      nb::kw_only(), "table"_a, "cache"_a, "source"_a, "lms"_a, "weights"_a, "demands"_a, "forced"_a.none(), "settings"_a,
      "Translation options of sentences.");

  m.def(
      "best_pairs",
      [](const LookupTable& table, const std::vector<const BoundLm*>& lms, const Floats& weights,
         const LookupSettings& settings, const Progress& progress) {
        const auto views = views_of(lms, table);
        const auto input = input_of(table, views, weights);
        return to_numpy(without_gil([&] { return best_pairs(input, settings, progress); }));
      },
      nb::kw_only(), "table"_a, "lms"_a, "weights"_a, "settings"_a, "progress"_a.none(),
      "For each pair, 1 if it is among the best of its source phrase within the table limit.");
}

}  // namespace hyperbaton::bindings
