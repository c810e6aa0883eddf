#include <nanobind/stl/map.h>
#include <nanobind/stl/vector.h>

#include "module.hh"
#include "phrases/distance_classes.hh"
#include "phrases/extract.hh"
#include "phrases/orientation.hh"

namespace hyperbaton::bindings {

HYPERBATON_BINDINGS(phrases) {
  using namespace nb::literals;

  m.def(
      "extract_samples",
      [](const Array<std::int64_t>& source_offsets, const Array<std::int64_t>& target_offsets,
         const Array2<std::uint16_t>& points, const Array<std::int64_t>& link_offsets, int max_length, unsigned n_threads,
         const std::optional<nb::callable>& progress) {
        const auto links = view_links(points, link_offsets);
        const auto report = make_progress(progress);
        Samples samples;
        {
          const nb::gil_scoped_release release;
          samples = extract_samples({view(source_offsets)}, {view(target_offsets)}, links, {max_length, n_threads}, report);
        }
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
      "The cut points of d that models of the core know classes by, by the name of the orientation set.");
  m.def(
      "classify_distances",
      [](const Array<std::int16_t>& distances, const Array<std::int32_t>& cuts) {
        std::vector<std::uint8_t> classes(distances.size());
        classify_distances(view(distances), view(cuts), classes);
        return to_numpy(std::move(classes));
      },
      "distances"_a, "cuts"_a, "How many cut points are not above each distance.");

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
