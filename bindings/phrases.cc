#include <nanobind/stl/array.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/vector.h>

#include "module.hh"
#include "phrases/coverage_state.hh"
#include "phrases/distance_classes.hh"
#include "phrases/extract.hh"
#include "phrases/orientation.hh"
#include "phrases/possible.hh"

namespace hyperbaton::bindings {

namespace {

// The bits of a coverage; throws unless the phrase lies in the sentence and outside the coverage.
std::vector<std::uint32_t> coverage_words(const Array<bool>& visited, SourceSpan phrase) {
  const auto covered = view(visited);
  const int n_words = static_cast<int>(covered.size());
  if (phrase.begin < 0 || phrase.begin >= phrase.end || phrase.end > n_words)
    throw Error("the phrase is out of range for the sentence");
  std::vector<std::uint32_t> words(Coverage::n_words(n_words), 0);
  for (int i = 0; i < n_words; ++i) {
    if (!covered[static_cast<std::size_t>(i)]) continue;
    if (i >= phrase.begin && i < phrase.end) throw Error("a word of the phrase is already translated");
    Coverage::set(words.data(), {i, i + 1});
  }
  return words;
}

}  // namespace

HYPERBATON_BINDINGS(phrases) {
  using namespace nb::literals;

  m.attr("MAX_PAIRED_LENGTH") = kMaxPairedLength;
  m.def(
      "extract_samples",
      [](const Ints& source_offsets, const Ints& target_offsets, const Array2<std::uint16_t>& points,
         const Ints& link_offsets, int max_length, unsigned n_threads, const Progress& progress) {
        const auto links = view_links(points, link_offsets);
        auto samples = without_gil([&] {
          return extract_samples({view(source_offsets)}, {view(target_offsets)}, links, {max_length, n_threads}, progress);
        });
        nb::dict columns;
        columns["sentence"] = to_numpy(std::move(samples.sentence));
        columns["source_begin"] = to_numpy(std::move(samples.source_begin));
        columns["source_length"] = to_numpy(std::move(samples.source_length));
        columns["target_begin"] = to_numpy(std::move(samples.target_begin));
        columns["target_length"] = to_numpy(std::move(samples.target_length));
        columns["distance_before"] = to_numpy(std::move(samples.distance_before));
        columns["distance_after"] = to_numpy(std::move(samples.distance_after));
        columns["orientations"] = to_numpy(std::move(samples.orientations));
        columns["offsets"] = to_numpy(std::move(samples.offsets));
        return columns;
      },
      "source_offsets"_a, "target_offsets"_a, "points"_a, "link_offsets"_a, "max_length"_a, "n_threads"_a,
      "progress"_a.none(), "Columns of all consistent phrase pairs, by name.");

  m.def(
      "distance_cuts",
      [] {
        const auto list = [](const auto& cuts) { return std::vector<std::int32_t>(cuts.begin(), cuts.end()); };
        return std::map<std::string, std::vector<std::int32_t>>{{"nine", list(kNineCuts)}, {"jump", list(kJumpCuts)}};
      },
      "The cut points of d that define the core's classes, by the name of the orientation set.");
  m.def(
      "classify_distances",
      [](const Array<std::int16_t>& distances, const Array<std::int32_t>& cuts) {
        std::vector<std::uint8_t> classes(distances.size());
        classify_distances(view(distances), view(cuts), classes);
        return to_numpy(std::move(classes));
      },
      "distances"_a, "cuts"_a, "The number of cut points not above each distance.");

  nb::class_<PossibleClasses>(m, "PossibleClasses", "Which classes a phrase can have, given the words that are visited.")
      .def_static(
          "of_distances", [](std::vector<std::int32_t> cuts) { return PossibleClasses(std::move(cuts)); }, "cuts"_a)
      .def_static(
          "of_orientations", [](const std::array<std::uint8_t, 4>& merge) { return PossibleClasses(merge); }, "merge"_a)
      .def(
          "mask",
          [](const PossibleClasses& self, const Array<bool>& visited, int begin, int end) {
            const auto words = coverage_words(visited, {begin, end});
            const int n_words = static_cast<int>(visited.size());
            return self.mask(Coverage(words.data(), n_words), n_words, {begin, end});
          },
          nb::kw_only(), "visited"_a, "begin"_a, "end"_a, "A bit for each class that the phrase can have.");
  m.attr("COVERAGE_STATES") = kCoverageStates;
  m.def(
      "coverage_state",
      [](const Array<bool>& visited, int begin, int end) {
        const auto words = coverage_words(visited, {begin, end});
        const int n_words = static_cast<int>(visited.size());
        return coverage_state(Coverage(words.data(), n_words), n_words, {begin, end});
      },
      nb::kw_only(), "visited"_a, "begin"_a, "end"_a, "The coverage state of a phrase, as a number.");
  m.def(
      "coverage_states_of_samples",
      [](const Words& sentence, const Shorts& source_begin, const Bytes& source_length, const Shorts& target_begin,
         const Array2<std::uint16_t>& points, const Ints& link_offsets, const Ints& source_offsets) {
        const SamplePlaces samples{view(sentence), view(source_begin), view(source_length), view(target_begin)};
        return to_numpy(coverage_states_of_samples(samples, view_links(points, link_offsets), {view(source_offsets)}));
      },
      nb::kw_only(), "sentence"_a, "source_begin"_a, "source_length"_a, "target_begin"_a, "points"_a, "link_offsets"_a,
      "source_offsets"_a, "The coverage state of each sample.");
  m.def(
      "possible_of_samples",
      [](const Words& sentence, const Shorts& source_begin, const Bytes& source_length, const Shorts& target_begin,
         const Array2<std::uint16_t>& points, const Ints& link_offsets, const Ints& source_offsets,
         const PossibleClasses& classes) {
        const SamplePlaces samples{view(sentence), view(source_begin), view(source_length), view(target_begin)};
        return to_numpy(possible_of_samples(samples, view_links(points, link_offsets), {view(source_offsets)}, classes));
      },
      nb::kw_only(), "sentence"_a, "source_begin"_a, "source_length"_a, "target_begin"_a, "points"_a, "link_offsets"_a,
      "source_offsets"_a, "classes"_a, "A bit for each class that a sample can have.");

  nb::enum_<Orientation>(m, "Orientation", nb::is_arithmetic())
      .value("monotone", Orientation::Monotone)
      .value("swap", Orientation::Swap)
      .value("discontinuous_left", Orientation::DiscontinuousLeft)
      .value("discontinuous_right", Orientation::DiscontinuousRight);
  nb::enum_<Unit>(m, "Unit")
      .value("word", Unit::Word)
      .value("phrase", Unit::Phrase)
      .value("hierarchical", Unit::Hierarchical);
  nb::enum_<Side>(m, "Side").value("before", Side::Before).value("after", Side::After);
  m.def("orientation_shift", &orientation_shift, "unit"_a, "side"_a, "First bit of an orientation in a packed sample.");
}

}  // namespace hyperbaton::bindings
