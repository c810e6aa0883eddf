#include "align/links.hh"

#include "module.hh"

namespace hyperbaton::bindings {

namespace {

// None if the text is unknown.
using MaybeOffsets = std::optional<Array<std::int64_t>>;
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
        return nb::make_tuple(to_numpy(std::move(links.points)), to_numpy(std::move(links.offsets)));
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
      [](const Array2<std::uint16_t>& points, const Array<std::int64_t>& offsets, const Array<std::int64_t>& sentences) {
        std::string text;
        {
          const nb::gil_scoped_release release;
          text = format_links(view_links(points, offsets), view(sentences));
        }
        return nb::bytes(text.data(), text.size());
      },
      "points"_a, "offsets"_a, "sentences"_a, "Pharaoh text of the sentences' links.");

  m.def(
      "visit_orders",
      [](const Array2<std::uint16_t>& points, const Array<std::int64_t>& offsets, unsigned n_threads) {
        const auto links = view_links(points, offsets);
        VisitOrders orders;
        {
          const nb::gil_scoped_release release;
          orders = visit_orders(links, n_threads);
        }
        return nb::make_tuple(to_numpy(std::move(orders.positions)), to_numpy(std::move(orders.offsets)));
      },
      "points"_a, "offsets"_a, "n_threads"_a, "Source positions in the order the target visits them.");

  m.def(
      "count_crossings",
      [](const Array2<std::uint16_t>& points, const Array<std::int64_t>& offsets, unsigned n_threads) {
        const auto links = view_links(points, offsets);
        std::vector<std::int64_t> rows;
        {
          const nb::gil_scoped_release release;
          for (const auto& [n_crossings, n_straight] : count_crossings(links, n_threads))
            rows.insert(rows.end(), {n_crossings, n_straight});
        }
        return to_numpy(std::move(rows), 2);
      },
      "points"_a, "offsets"_a, "n_threads"_a,
      "For each sentence pair, the number of crossing pairs of links, and of links that cross none.");
}

}  // namespace hyperbaton::bindings
