#include <nanobind/stl/vector.h>

#include "features/rows.hh"
#include "features/training_features.hh"
#include "module.hh"
#include "phrases/phrase_keys.hh"
#include "table.hh"
#include "texts.hh"

namespace hyperbaton::bindings {

namespace {

std::vector<Template> view_templates(const Array2<std::int32_t>& rows, const Occurrences& where) {
  if (rows.shape(1) != 6) throw Error("templates need the shape (n, 6)");
  std::vector<Template> templates;
  for (std::size_t i = 0; i < rows.shape(0); ++i) {
    const std::int32_t* row = rows.data() + 6 * i;
    if (row[2] < 0 || row[2] > static_cast<std::int32_t>(Region::NumberAfter)) throw Error("a template has a wrong region");
    templates.push_back({row[0], row[1], static_cast<Region>(row[2]), row[3], row[4], row[5]});
  }
  check_templates(templates, where);
  return templates;
}

}  // namespace

HYPERBATON_BINDINGS(features) {
  using namespace nb::literals;

  nb::enum_<Region>(m, "Region", nb::is_arithmetic())
      .value("before", Region::Before)
      .value("inside", Region::Inside)
      .value("after", Region::After)
      .value("links", Region::Links)
      .value("number_before", Region::NumberBefore)
      .value("number_inside", Region::NumberInside)
      .value("number_after", Region::NumberAfter);

  nb::class_<Occurrences>(m, "Occurrences", "Phrase pairs in context, over borrowed arrays.")
      .def(
          "__init__",
          // noconvert: a converted copy would be freed while views refer to it.
          [](Occurrences* self, const Words& source_sentence, const Shorts& source_begin, const Bytes& source_length,
             const Words& target_sentence, const Shorts& target_begin, const Bytes& target_length,
             const Array2<std::uint16_t>& points, const Ints& link_offsets) {
            new (self) Occurrences{.layers = {},
                                   .source = view_spans(source_sentence, source_begin, source_length),
                                   .target = view_spans(target_sentence, target_begin, target_length),
                                   .links = view_links(points, link_offsets)};
          },
          "source_sentence"_a.noconvert(), "source_begin"_a.noconvert(), "source_length"_a.noconvert(),
          "target_sentence"_a.noconvert(), "target_begin"_a.noconvert(), "target_length"_a.noconvert(),
          "points"_a.noconvert(), "link_offsets"_a.noconvert(), nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>(),
          nb::keep_alive<1, 4>(), nb::keep_alive<1, 5>(), nb::keep_alive<1, 6>(), nb::keep_alive<1, 7>(),
          nb::keep_alive<1, 8>(), nb::keep_alive<1, 9>())
      .def(
          "add_layer",
          [](Occurrences& self, const Words& tokens, const Ints& offsets, bool of_target) {
            self.layers.push_back({{view(tokens), view(offsets)}, of_target});
          },
          "tokens"_a.noconvert(), "offsets"_a.noconvert(), "of_target"_a, nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>(),
          "Add words, or labels of the words, of one side.")
      .def("check", &Occurrences::check, "Throw unless everything matches.")
      .def("__len__", &Occurrences::size);

  m.attr("MAX_WORDS") = kMaxWords;
  nb::class_<KeyIndex>(m, "KeyIndex", "Finds the numbers of features by their sorted keys.")
      .def(
          "__init__", [](KeyIndex* self, const Keys& keys) { new (self) KeyIndex(view(keys)); }, "keys"_a.noconvert(),
          nb::keep_alive<1, 2>());

  nb::class_<TrainingFeatures>(m, "TrainingFeatures", "The features of training data, counted and numbered.")
      .def(
          "__init__",
          [](TrainingFeatures* self, const Array2<std::int32_t>& rows, const Occurrences& where, std::uint32_t min_count,
             unsigned n_threads, const Progress& progress, const std::optional<nb::callable>& room) {
            const auto templates = view_templates(rows, where);
            const auto large = make_room(room);
            const nb::gil_scoped_release release;
            new (self) TrainingFeatures(templates, where, min_count, n_threads, progress, large);
          },
          "templates"_a, "occurrences"_a, nb::kw_only(), "min_count"_a, "n_threads"_a, "progress"_a.none(), "room"_a.none(),
          nb::keep_alive<1, 3>())
      .def(
          "take_space",
          [](TrainingFeatures& self) {
            FeatureSpace space = std::move(self.space);
            return arrays(std::move(space.keys), std::move(space.names), std::move(space.lengths), std::move(space.words));
          },
          "Key, name, number of words and words, MAX_WORDS for each feature; the object gives them up.")
      .def(
          "rows",
          [](const TrainingFeatures& self, const Words& occurrences, unsigned n_threads, const Progress& progress) {
            auto features = without_gil([&] { return self.rows(view(occurrences), n_threads, progress); });
            return arrays(std::move(features.starts), std::move(features.indices));
          },
          "occurrences"_a.noconvert(), nb::kw_only(), "n_threads"_a, "progress"_a.none(),
          "Rows of some occurrences as offsets and feature numbers.");

  m.def(
      "feature_rows",
      [](const Array2<std::int32_t>& rows, const Occurrences& where, const KeyIndex& index, unsigned n_threads) {
        const auto templates = view_templates(rows, where);
        auto features = without_gil([&] { return feature_rows(templates, where, index, n_threads); });
        return arrays(std::move(features.starts), std::move(features.indices));
      },
      "templates"_a, "occurrences"_a, "index"_a, nb::kw_only(), "n_threads"_a, "Rows as offsets and feature numbers.");

  m.def(
      "phrase_keys",
      [](const BoundTokens& text, const Words& sentence, const Shorts& begin, const Bytes& length, unsigned n_threads) {
        return to_numpy(without_gil(
            [&] { return phrase_keys(text.tokens(), spans_of(text.tokens(), sentence, begin, length), n_threads); }));
      },
      "text"_a, "sentence"_a, "begin"_a, "length"_a, "n_threads"_a, "A key for each phrase, equal for equal phrases.");

  m.def(
      "number_keys",
      [](const Keys& keys) {
        auto numbered = without_gil([&] { return number_keys(view(keys)); });
        return arrays(std::move(numbered.keys), std::move(numbered.first), std::move(numbered.numbers));
      },
      "keys"_a, "Distinct keys, sorted; the first occurrence of each; and the rank of each given key.");
}

}  // namespace hyperbaton::bindings
