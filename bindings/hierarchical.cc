#include <nanobind/stl/pair.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "decode_input.hh"
#include "hierarchical/rescoring.hh"

namespace hyperbaton::bindings {

namespace {

// A rule table with its arrays.
struct BoundGrammar {
  TableArrays table;
  ScoreArrays scores;
  std::vector<NumberColumn> trie;
  Grammar grammar;
};

// The input of a chart search, with the objects it refers to.
class BoundChartInput {
 public:
  using NamedFeatures = std::vector<std::pair<std::string, nb::handle_t<BoundFeature>>>;

  BoundChartInput(const BoundGrammar& grammar, const SourceTokens& source, const NamedFeatures& features, Floats weights,
                  const BoundDemands& demands, const WallRows& walls, const SpanRows& zones, const BoundTokens* forced)
      : source_(source),
        weights_(std::move(weights)),
        demands_(demands),
        walls_(walls_of(walls)),
        zones_(spans_of<Zone>(zones)),
        forced_(forced ? std::optional(*forced) : std::nullopt),
        input_{.grammar = grammar.grammar,
               .source = source_.tokens.tokens(),
               .copies = view(source_.copies),
               .lms = {},
               .features = {},
               .weights = view(weights_),
               .demands = demands_.demands(),
               .walls = walls_,
               .zones = zones_,
               .forced = view_forced(forced_ ? &*forced_ : nullptr, source_.tokens.offsets.size() - 1),
               .blocks = {}} {
    if (weights_.size() != input_.n_own()) throw Error("there must be a weight for each score of the rules");
    add(features);
  }
  BoundChartInput(const BoundChartInput&) = delete;
  BoundChartInput& operator=(const BoundChartInput&) = delete;

  const ChartInput& input() const { return input_; }
  void add(const NamedFeatures& features) {
    for (const auto& [name, handle] : features) {
      input_.add(name, nb::cast<const BoundFeature&>(handle).input());
      features_.push_back(nb::borrow(handle));
    }
  }
  BoundOptions find_blocks(RankCaches& caches, const ChartSettings& settings) {
    const nb::gil_scoped_release release;
    auto blocks = hyperbaton::find_blocks(input_, settings, caches.rules, {});
    blocks_ = std::move(blocks.sentences);
    input_.blocks = blocks_;
    return {std::move(blocks.options)};
  }

 private:
  SourceTokens source_;
  Floats weights_;
  BoundDemands demands_;
  std::vector<Wall> walls_;
  std::vector<Zone> zones_;
  std::optional<BoundTokens> forced_;
  std::vector<nb::object> features_;
  std::vector<SentenceBlocks> blocks_;
  ChartInput input_;
};

// Derivations of sentences, and the phrases in them for Python.
struct BoundCandidates {
  ChartCandidates candidates;
  std::size_t n_values, n_rescored = 0;  // values of the chart's features, and of those that rescore

  BoundOptions phrases() { return {candidates.phrases}; }
  void rescore(const BoundInput& input, unsigned n_threads, const Progress& progress) {
    n_rescored = input.input().features.n_values();
    const nb::gil_scoped_release release;
    hyperbaton::rescore(candidates, input.input(), n_threads, progress);
  }
};

nb::dict to_dict(ChartDecoded&& decoded, std::size_t n_values, std::size_t n_rescored) {
  std::vector<std::int64_t> counts, places;
  for (const auto& count : decoded.counts) counts.insert(counts.end(), {count.hypotheses, count.cubes, count.spans});
  std::vector<double> graph_scores;
  std::vector<std::int64_t> target_offsets{0};
  std::vector<WordId> targets;
  for (const auto& row : decoded.graph) {
    places.insert(places.end(), {row.hypothesis, row.span.begin, row.span.end, row.pair, row.children[0], row.children[1]});
    graph_scores.push_back(row.score);
    targets.insert(targets.end(), row.target.begin(), row.target.end());
    target_offsets.push_back(static_cast<std::int64_t>(targets.size()));
  }
  nb::dict columns;
#define COLUMN(name) columns[#name] = to_numpy(std::move(decoded.name));
  // clang-format off
  COLUMN(path_offsets) COLUMN(scores) COLUMN(word_offsets) COLUMN(words) COLUMN(link_offsets) COLUMN(links)
  COLUMN(step_offsets) COLUMN(step_sentence) COLUMN(step_begin) COLUMN(step_end) COLUMN(step_pair) COLUMN(step_parent)
  COLUMN(step_target_offsets) COLUMN(step_target) COLUMN(step_link_offsets) COLUMN(step_links) COLUMN(graph_offsets)
  COLUMN(phrase_offsets) COLUMN(phrases) COLUMN(phrase_steps)
// clang-format on
#undef COLUMN
                  columns["features"] = to_numpy(std::move(decoded.features), n_values);
  columns["phrase_features"] = to_numpy(std::move(decoded.phrase_features), std::max<std::size_t>(n_rescored, 1));
  columns["counts"] = to_numpy(std::move(counts), 3);
  columns["graph_places"] = to_numpy(std::move(places), 6);
  columns["graph_scores"] = to_numpy(std::move(graph_scores));
  columns["graph_target_offsets"] = to_numpy(std::move(target_offsets));
  columns["graph_targets"] = to_numpy(std::move(targets));
  return columns;
}

}  // namespace

HYPERBATON_BINDINGS(hierarchical) {
  using namespace nb::literals;

  m.def("glue_feature", [] { return kGlueFeature; }, "The name of the feature of the glue rule.");

  m.def(
      "build_rule_trie",
      [](const PhraseArrays& sources, WordId gap) {
        auto trie = without_gil([&] { return build_rule_trie(sources.phrases(), gap); });
        return std::tuple(to_numpy(std::move(trie.symbols)), to_numpy(std::move(trie.children)),
                          to_numpy(std::move(trie.ends)));
      },
      "sources"_a, "gap"_a, "Source sides of rules as a trie: symbols, children and ends of its nodes.");

  nb::class_<BoundGrammar>(m, "Grammar", "A rule table for the chart decoder.")
      .def(
          "__init__",
          [](BoundGrammar* self, const TableArrays& table, const ScoreArrays& scores, const NumberColumn& symbols,
             const NumberColumn& children, const NumberColumn& ends, std::size_t n_target_words, WordId source_gap,
             const std::vector<WordId>& target_gaps) {
            if (target_gaps.size() != kMaxGaps) throw Error("there must be two target words for gaps");
            const auto pairs = table.pairs();
            if (pairs.offsets.size() != pairs.source.size() + 1 || !scores.fits(pairs) ||
                pairs.links.numbers.size() != pairs.targets.size())
              throw Error("the arrays of the rule table do not match: build the system again");
            const RuleTrie trie(symbols.view(), children.view(), ends.view());
            new (self) BoundGrammar{.table = table,
                                    .scores = scores,
                                    .trie = {symbols, children, ends},
                                    .grammar = {.table = pairs,
                                                .scores = scores.scores(),
                                                .n_target_words = n_target_words,
                                                .source_gap = source_gap,
                                                .gaps = {target_gaps[0], target_gaps[1]},
                                                .trie = trie}};
          },
          nb::kw_only(), "table"_a, "scores"_a, "symbols"_a, "children"_a, "ends"_a, "n_target_words"_a, "source_gap"_a,
          "target_gaps"_a);

  nb::class_<ChartSettings>(m, "ChartSettings", "Settings of the chart search and of its results.")
      .def(
          "__init__",
          [](ChartSettings* self, const LookupSettings& lookup, std::size_t pop_limit, std::size_t stack,
             double log_threshold, int max_span, const NBestSettings& n_best, std::size_t n_rescored, bool graph) {
            new (self) ChartSettings{.lookup = lookup,
                                     .pop_limit = pop_limit,
                                     .beam = {.size = stack, .log_threshold = log_threshold},
                                     .max_span = max_span,
                                     .n_best = n_best,
                                     .n_rescored = n_rescored,
                                     .graph = graph};
          },
          nb::kw_only(), "lookup"_a, "pop_limit"_a, "stack"_a, "log_threshold"_a, "max_span"_a, "n_best"_a, "n_rescored"_a,
          "graph"_a);

  nb::class_<BoundChartInput>(m, "ChartInput", "Sentences, the rules that translate them, and the features of derivations.")
      .def(nb::init<const BoundGrammar&, const SourceTokens&, const BoundChartInput::NamedFeatures&, Floats,
                    const BoundDemands&, const WallRows&, const SpanRows&, const BoundTokens*>(),
           nb::kw_only(), "grammar"_a, "source"_a, "features"_a, "weights"_a, "demands"_a, "walls"_a, "zones"_a,
           "forced"_a.none(), nb::keep_alive<1, 2>())
      .def("add", &BoundChartInput::add, "features"_a, "Add features.")
      .def("find_blocks", &BoundChartInput::find_blocks, "cache"_a, "settings"_a,
           "The phrase pairs that orientation models see in derivations: they have a row of scores for each. Language "
           "models are added before, such models after.")
      .def_prop_ro(
          "columns", [](const BoundChartInput& self) { return self.input().column_names(); },
          "The feature name of each column of values.");

  m.def(
      "best_rules",
      [](const BoundChartInput& input, const ChartSettings& settings, const Progress& progress) {
        return to_numpy(without_gil([&] { return best_rules(input.input(), settings, progress); }));
      },
      "input"_a, "settings"_a, "progress"_a.none(),
      "For each rule, 1 if it is among the best of its source side within the table limit.");

  nb::class_<BoundCandidates>(m, "ChartCandidates", "Derivations of sentences, from which the best are chosen.")
      .def_prop_ro("phrases", &BoundCandidates::phrases, "The phrases that derivations are read as.")
      .def("rescore", &BoundCandidates::rescore, "input"_a, "n_threads"_a, "progress"_a.none(),
           "Score all derivations by features of their phrases.")
      .def(
          "choose",
          [](BoundCandidates& self, const ChartSettings& settings) {
            return to_dict(choose_best(std::move(self.candidates), settings.n_best), self.n_values, self.n_rescored);
          },
          "settings"_a, "The best translations, as columns; removes all from the candidates.");

  m.def(
      "decode_chart",
      [](const BoundChartInput& input, RankCaches& caches, const ChartSettings& settings, const Progress& progress) {
        const nb::gil_scoped_release release;
        return BoundCandidates{decode_chart(input.input(), settings, caches.rules, progress), input.input().n_values()};
      },
      "input"_a, "cache"_a, "settings"_a, "progress"_a.none(), "The best derivations of sentences by rules.");
}

}  // namespace hyperbaton::bindings
