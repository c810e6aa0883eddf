#include "block.hh"

#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include "block/asks.hh"
#include "block/training.hh"
#include "learn/gaussian_prior.hh"
#include "minimize.hh"

namespace hyperbaton::bindings {

namespace {

// A prior with its arrays.
struct BoundBlockPrior {
  Array2<double> by_tag, by_length;
  bool smoothed;
  double alpha;
};

struct BoundBlockTable {
  BlockLookup lookup;
  BlockPrior prior;
};

struct BoundBlockBitext {
  BlockBitext bitext;
};

struct BoundBlockObjective {
  BlockObjective objective;
};

// The features of a model, as columns over borrowed arrays.
struct BoundBlockFeatures {
  BlockFeaturesView view;
};

std::span<const double> rows_of(const Array2<double>& array) {
  if (array.shape(1) != kJumps) throw Error("rows must have eleven values, one for each jump");
  return view(array);
}

std::vector<double> checked(const BlockObjective& objective, const Array<double>& weights) {
  if (weights.size() != objective.n_parameters()) throw Error("the weights do not match the features");
  return copied(weights);
}

nb::tuple to_tuple(Minimum&& minimum) { return arrays(std::move(minimum.x), std::move(minimum.objective)); }

}  // namespace

HYPERBATON_BINDINGS(block) {
  using namespace nb::literals;

  m.attr("SENTENCE_EDGE") = kSentenceEdge;
  m.attr("EMPTY_TAG") = kEmptyTag;
  m.def(
      "block_families", [] { return std::vector<std::string_view>(kBlockFamilyNames.begin(), kBlockFamilyNames.end()); },
      "The families of questions; one bit of a set of families for each.");
  m.def(
      "block_jumps",
      [] {
        std::vector<int> jumps;
        for (std::size_t c = 0; c < kJumps; ++c) jumps.push_back(jump_of(c));
        return jumps;
      },
      "The jump of each class.");

  nb::enum_<AskedOf>(m, "AskedOf", "The kind of things that a question's numbers refer to.")
      .value("nothing", AskedOf::Nothing)
      .value("source_words", AskedOf::SourceWords)
      .value("target_words", AskedOf::TargetWords)
      .value("tags", AskedOf::Tags)
      .value("labels", AskedOf::Labels);
  nb::class_<Answer>(m, "BlockAnswer", "The content of a question.")
      .def_prop_ro("numbers", [](const Answer& self) { return self.numbers; })
      .def_prop_ro(
          "coverage",
          [](const Answer& self) { return self.coverage ? std::optional(static_cast<int>(*self.coverage)) : std::nullopt; })
      .def_prop_ro("right", [](const Answer& self) { return self.right; });
  nb::class_<AskText>(m, "BlockAsk", "A kind of question.")
      .def_prop_ro("family", &AskText::family)
      .def_prop_ro("asked", [](const AskText& self) { return self.asked; })
      .def_prop_ro("of", [](const AskText& self) { return self.of; })
      .def_prop_ro("about_tags", [](const AskText& self) { return about_tags(self.ask); })
      .def("read", &read_answer, "a"_a, "b"_a, "The content of a question, from its two numbers.");
  m.def(
      "block_asks", [] { return std::vector<AskText>(kAskTexts.begin(), kAskTexts.end()); },
      "The kinds of questions, by number.");

  nb::class_<BoundBlockText>(m, "BlockText", "Source sentences with tags and trees, over borrowed arrays.")
      .def(
          "__init__",
          [](BoundBlockText* self, const BoundTokens& tokens, const std::optional<Words>& tags, const BoundTrees* trees) {
            new (self) BoundBlockText{{.words = tokens.tokens(),
                                       .tags = tags ? view(*tags) : std::span<const std::uint32_t>{},
                                       .trees = trees ? trees->view_trees() : TreesView{}}};
            self->text.check();
          },
          "tokens"_a, "tags"_a.noconvert().none(), "trees"_a.none(), nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>(),
          nb::keep_alive<1, 4>());

  nb::class_<BoundBlockBitext>(m, "BlockBitext", "Source sentences, their translations and links, over borrowed arrays.")
      .def(
          "__init__",
          [](BoundBlockBitext* self, const BoundBlockText& source, const BoundTokens& target,
             const Array2<std::uint16_t>& points, const Ints& link_offsets) {
            new (self) BoundBlockBitext{
                {.source = source.text, .target = target.tokens(), .links = view_links(points, link_offsets)}};
            self->bitext.check();
          },
          "source"_a, "target"_a, "points"_a.noconvert(), "link_offsets"_a.noconvert(), nb::keep_alive<1, 2>(),
          nb::keep_alive<1, 3>(), nb::keep_alive<1, 4>(), nb::keep_alive<1, 5>());

  m.def(
      "block_path",
      [](const Array2<std::uint16_t>& links, int n_source) {
        PathFinder finder;
        nb::list steps;
        for (const auto link : view_links(links))
          if (link.source >= n_source) throw Error("a link is out of range for the phrase");
        const auto& path = finder.find(view_links(links), n_source);
        for (const auto& step : path.steps) {
          nb::list targets;
          for (const auto position : path.targets_of(step)) targets.append(position);
          steps.append(nb::make_tuple(step.source.begin, step.source.end, targets, step.before));
        }
        return steps;
      },
      "links"_a, "n_source"_a, "Blocks of a sentence pair in order: begin, end, target positions, target words before.");

  m.def(
      "count_blocks",
      [](const BoundBlockBitext& bitext, std::size_t n_tags, std::size_t n_lengths, unsigned n_threads,
         const Progress& progress) {
        auto table = without_gil([&] { return count_blocks(bitext.bitext, {n_tags, n_lengths, n_threads}, progress); });
        nb::dict columns;
        columns["source_keys"] = to_numpy(std::move(table.source_keys));
        columns["target_keys"] = to_numpy(std::move(table.target_keys));
        columns["source_offsets"] = to_numpy(std::move(table.source_offsets));
        columns["source_words"] = to_numpy(std::move(table.source_words));
        columns["target_offsets"] = to_numpy(std::move(table.target_offsets));
        columns["target_words"] = to_numpy(std::move(table.target_words));
        columns["offsets"] = to_numpy(std::move(table.offsets));
        columns["targets"] = to_numpy(std::move(table.targets));
        columns["counts"] = to_numpy(std::move(table.counts));
        columns["jumps"] = to_numpy(std::move(table.jumps), kJumps);
        columns["tag_jumps"] = to_numpy(std::move(table.tag_jumps), kJumps);
        columns["length_jumps"] = to_numpy(std::move(table.length_jumps), kJumps);
        return columns;
      },
      "bitext"_a, nb::kw_only(), "n_tags"_a, "n_lengths"_a, "n_threads"_a, "progress"_a.none(),
      "The blocks of a bitext, and how far they jump.");

  nb::class_<BoundBlockPrior>(m, "BlockPrior", "Jump distributions by tag and by length of a source phrase.")
      .def(
          "__init__",
          [](BoundBlockPrior* self, Array2<double> by_tag, Array2<double> by_length, bool smoothed, double alpha) {
            if (by_length.size() == 0) throw Error("the prior has no rows for lengths");
            new (self) BoundBlockPrior{
                .by_tag = std::move(by_tag), .by_length = std::move(by_length), .smoothed = smoothed, .alpha = alpha};
          },
          nb::kw_only(), "by_tag"_a, "by_length"_a, "smoothed"_a, "alpha"_a);

  nb::class_<BoundBlockTable>(m, "BlockTable", "Blocks and their prior, over borrowed arrays.")
      .def(
          "__init__",
          [](BoundBlockTable* self, const Keys& source_keys, const Keys& target_keys, const Ints& offsets,
             const Words& targets, const Words& counts, const Array2<std::uint32_t>& jumps, const Words& target_tags,
             const BoundBlockPrior& prior) {
            const BlockTableView table{.source_keys = view(source_keys),
                                       .target_keys = view(target_keys),
                                       .offsets = view(offsets),
                                       .targets = view(targets),
                                       .counts = view(counts),
                                       .jumps = view(jumps),
                                       .target_tags = view(target_tags)};
            table.check();
            new (self) BoundBlockTable{BlockLookup(table),
                                       {.smoothed = prior.smoothed,
                                        .alpha = prior.alpha,
                                        .by_tag = rows_of(prior.by_tag),
                                        .by_length = rows_of(prior.by_length)}};
          },
          "source_keys"_a.noconvert(), "target_keys"_a.noconvert(), "offsets"_a.noconvert(), "targets"_a.noconvert(),
          "counts"_a.noconvert(), "jumps"_a.noconvert(), "target_tags"_a.noconvert(), nb::kw_only(), "prior"_a,
          nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>(), nb::keep_alive<1, 4>(), nb::keep_alive<1, 5>(),
          nb::keep_alive<1, 6>(), nb::keep_alive<1, 7>(), nb::keep_alive<1, 8>(), nb::keep_alive<1, 9>());

  m.def(
      "find_block_features",
      [](const BoundBlockBitext& bitext, const BoundBlockTable& table, std::uint32_t families, std::uint32_t min_count,
         unsigned n_threads, const Progress& progress) {
        auto features = without_gil([&] {
          return find_block_features(bitext.bitext, table.lookup, families,
                                     {.min_count = min_count, .bytes = kAnyMemory, .n_threads = n_threads}, progress);
        });
        nb::dict columns;
        columns["keys"] = to_numpy(std::move(features.keys));
        columns["starts"] = to_numpy(std::move(features.starts));
        columns["jumps"] = to_numpy(std::move(features.jumps));
        columns["counts"] = to_numpy(std::move(features.counts));
        columns["asks"] = to_numpy(std::move(features.asks));
        columns["sources"] = to_numpy(std::move(features.sources));
        columns["as"] = to_numpy(std::move(features.as));
        columns["bs"] = to_numpy(std::move(features.bs));
        columns["targets"] = to_numpy(std::move(features.targets));
        return columns;
      },
      "bitext"_a, "table"_a, nb::kw_only(), "families"_a, "min_count"_a, "n_threads"_a, "progress"_a.none(),
      "The features that occur often enough on the paths of a bitext.");

  nb::class_<BoundBlockFeatures>(m, "BlockFeatures", "The features of a block model, over borrowed arrays.")
      .def(
          "__init__",
          [](BoundBlockFeatures* self, const Keys& keys, const Ints& starts, const Bytes& jumps, const Bytes& asks,
             const Words& sources, const Words& as, const Words& bs, const Words& targets) {
            new (self) BoundBlockFeatures{{.keys = view(keys),
                                           .starts = view(starts),
                                           .jumps = view(jumps),
                                           .asks = view(asks),
                                           .sources = view(sources),
                                           .as = view(as),
                                           .bs = view(bs),
                                           .targets = view(targets)}};
            self->view.check();
          },
          "keys"_a.noconvert(), "starts"_a.noconvert(), "jumps"_a.noconvert(), "asks"_a.noconvert(),
          "sources"_a.noconvert(), "a"_a.noconvert(), "b"_a.noconvert(), "targets"_a.noconvert(), nb::keep_alive<1, 2>(),
          nb::keep_alive<1, 3>(), nb::keep_alive<1, 4>(), nb::keep_alive<1, 5>(), nb::keep_alive<1, 6>(),
          nb::keep_alive<1, 7>(), nb::keep_alive<1, 8>(), nb::keep_alive<1, 9>());

  nb::class_<BoundBlockObjective>(m, "BlockObjective", "-sum log p(t, j | s) over all steps of the paths of a bitext.")
      .def(
          "__init__",
          [](BoundBlockObjective* self, const BoundBlockBitext& bitext, const BoundBlockTable& table,
             const BoundBlockFeatures& features, std::uint32_t families, std::size_t max_targets, unsigned n_threads,
             const Progress& progress) {
            const nb::gil_scoped_release release;
            new (self) BoundBlockObjective{BlockObjective(bitext.bitext, table.lookup, table.prior, families, features.view,
                                                          {max_targets, n_threads}, progress)};
          },
          "bitext"_a, "table"_a, "features"_a, nb::kw_only(), "families"_a, "max_targets"_a, "n_threads"_a,
          "progress"_a.none(), nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>(), nb::keep_alive<1, 4>())
      .def_prop_ro("n_steps", [](const BoundBlockObjective& self) { return self.objective.n_steps(); })
      .def(
          "__call__",
          [](const BoundBlockObjective& self, const Array<double>& weights) {
            const auto w = checked(self.objective, weights);
            std::vector<double> gradient(w.size());
            const auto value = without_gil([&] { return self.objective(w, gradient, make_progress()); });
            return nb::make_tuple(value, to_numpy(std::move(gradient)));
          },
          "weights"_a, "The sum and its gradient.")
      .def(
          "lbfgs",
          [](const BoundBlockObjective& self, const Array<double>& start, double variance, std::size_t memory,
             std::size_t max_passes, double tolerance, double gain, const nb::object& checkpoint,
             const Progress& progress) {
            auto w = checked(self.objective, start);
            auto checkpoints = make_checkpoints(checkpoint);
            auto minimum = without_gil([&] {
              return minimize_with_prior(self.objective, std::move(w), variance, {memory, max_passes, tolerance, 0, gain},
                                         progress, std::move(checkpoints));
            });
            return to_tuple(std::move(minimum));
          },
          "start"_a, nb::kw_only(), "variance"_a, "memory"_a, "max_passes"_a, "tolerance"_a, "gain"_a,
          "checkpoint"_a.none(), "progress"_a.none(), "Weights by L-BFGS, and the objective after each step.")
      .def(
          "iis",
          [](const BoundBlockObjective& self, const Array<double>& start, double variance, std::size_t max_passes,
             double tolerance, const Progress& progress) {
            auto w = checked(self.objective, start);
            auto minimum = without_gil(
                [&] { return scale_blocks(self.objective, std::move(w), {variance, max_passes, tolerance}, progress); });
            return to_tuple(std::move(minimum));
          },
          "start"_a, nb::kw_only(), "variance"_a, "max_passes"_a, "tolerance"_a, "progress"_a.none(),
          "Weights by improved iterative scaling, and the objective before each pass.");

  nb::class_<BoundBlockModel>(m, "BlockModel", "A trained block model.")
      .def(
          "__init__",
          [](BoundBlockModel* self, const BoundBlockTable& table, const BoundBlockFeatures& features,
             const Array<double>& weights, const Words& word_tags, std::uint32_t families, std::size_t max_targets) {
            new (self) BoundBlockModel{BlockModel(table.lookup, {.prior = table.prior,
                                                                 .families = families,
                                                                 .features = features.view,
                                                                 .weights = view(weights),
                                                                 .word_tags = view(word_tags),
                                                                 .max_targets = max_targets})};
          },
          "table"_a, "features"_a, "weights"_a.noconvert(), "word_tags"_a.noconvert(), nb::kw_only(), "families"_a,
          "max_targets"_a, nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>(), nb::keep_alive<1, 4>(), nb::keep_alive<1, 5>())
      .def(
          "score_paths",
          [](const BoundBlockModel& self, const BoundBlockBitext& bitext, unsigned n_threads) {
            auto scores = without_gil([&] { return score_paths(self.model, bitext.bitext, n_threads, make_progress()); });
            nb::dict columns;
            columns["sentence"] = to_numpy(std::move(scores.sentence));
            columns["begin"] = to_numpy(std::move(scores.begin));
            columns["end"] = to_numpy(std::move(scores.end));
            columns["jump"] = to_numpy(std::move(scores.jump));
            columns["logprob"] = to_numpy(std::move(scores.logprob));
            columns["jump_logprob"] = to_numpy(std::move(scores.jump_logprob));
            columns["right"] = to_numpy(std::move(scores.right));
            columns["jump_right"] = to_numpy(std::move(scores.jump_right));
            columns["sum"] = to_numpy(std::move(scores.sum));
            return columns;
          },
          "bitext"_a, nb::kw_only(), "n_threads"_a, "Scores of each step of a bitext's paths.");
}

}  // namespace hyperbaton::bindings
