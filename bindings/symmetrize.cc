#include "align/symmetrize.hh"

#include "module.hh"

namespace hyperbaton::bindings {

HYPERBATON_BINDINGS(symmetrize) {
  using namespace nb::literals;
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
