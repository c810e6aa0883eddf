#include "align/links.hh"

#include "align/symmetrize.hh"
#include "module.hh"

namespace hyperbaton::bindings {

namespace {

// None if the text is unknown.
using MaybeOffsets = std::optional<Ints>;
SentenceLengths lengths(const MaybeOffsets& offsets) {
  return offsets ? SentenceLengths{view(*offsets)} : SentenceLengths{};
}

// The readers keep views of the length arrays, so Python must keep those alive (nb::keep_alive below).
template <class Reader>
void def_reader(nb::class_<Reader>& reader) {
  def_feed(reader).def(
      "take",
      [](Reader& self) {
        auto links = self.take();
        return arrays(std::move(links.points), std::move(links.offsets));
      },
      "Points of shape (n, 2) and sentence offsets; call once, at the end.");
}

}  // namespace

HYPERBATON_BINDINGS(links) {
  using namespace nb::literals;

  nb::class_<PharaohReader> pharaoh(m, "PharaohReader", "Reads links written as i-j.");
  pharaoh.def(
      "__init__",
      [](PharaohReader* self, const MaybeOffsets& source_offsets, const MaybeOffsets& target_offsets) {
        new (self) PharaohReader(lengths(source_offsets), lengths(target_offsets));
      },
      "source_offsets"_a.none(), "target_offsets"_a.none(), nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>());
  def_reader(pharaoh);

  nb::enum_<Direction>(m, "Direction", "Which sentence of a pair generates the other.")
      .value("TO_TARGET", kToTarget)
      .value("TO_SOURCE", kToSource);

  nb::class_<GizaReader> giza(m, "GizaReader", "Reads GIZA++ A3 files.");
  giza.def(
      "__init__",
      [](GizaReader* self, const MaybeOffsets& source_offsets, const MaybeOffsets& target_offsets, Direction direction) {
        new (self) GizaReader(lengths(source_offsets), lengths(target_offsets), direction);
      },
      "source_offsets"_a.none(), "target_offsets"_a.none(), "direction"_a, nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>());
  def_reader(giza);

  m.def(
      "format_links",
      [](const Array2<std::uint16_t>& points, const Ints& offsets, const Ints& sentences) {
        return to_bytes(without_gil([&] { return format_links(view_links(points, offsets), view(sentences)); }));
      },
      "points"_a, "offsets"_a, "sentences"_a, "Pharaoh text of the sentences' links.");

  m.def(
      "visit_orders",
      [](const Array2<std::uint16_t>& points, const Ints& offsets, unsigned n_threads) {
        const auto links = view_links(points, offsets);
        auto orders = without_gil([&] { return visit_orders(links, n_threads); });
        return arrays(std::move(orders.positions), std::move(orders.offsets));
      },
      "points"_a, "offsets"_a, "n_threads"_a, "Source positions in the order the target visits them.");

  m.def(
      "count_crossings",
      [](const Array2<std::uint16_t>& points, const Ints& offsets, unsigned n_threads) {
        const auto links = view_links(points, offsets);
        return rows_to_numpy<std::int64_t>(without_gil([&] { return count_crossings(links, n_threads); }));
      },
      "points"_a, "offsets"_a, "n_threads"_a,
      "For each sentence pair, the number of crossing pairs of links, and of links that cross none.");

  m.def(
      "symmetrize",
      [](const Array2<std::uint16_t>& forward_points, const Ints& forward_offsets,
         const Array2<std::uint16_t>& backward_points, const Ints& backward_offsets, const std::string& method,
         unsigned n_threads, const Progress& progress) {
        const auto forward = view_links(forward_points, forward_offsets);
        const auto backward = view_links(backward_points, backward_offsets);
        if (forward.offsets.size() != backward.offsets.size()) throw Error("the two directions differ in length");
        auto joined =
            without_gil([&] { return symmetrize(forward, backward, Symmetrization::named(method), n_threads, progress); });
        return arrays(std::move(joined.points), std::move(joined.offsets));
      },
      "forward_points"_a, "forward_offsets"_a, "backward_points"_a, "backward_offsets"_a, "method"_a, "n_threads"_a,
      "progress"_a.none(), "The links of two directions as one set.");
}

}  // namespace hyperbaton::bindings
