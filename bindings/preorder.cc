#include "next_position/preorder.hh"

#include "module.hh"

namespace hyperbaton::bindings {

HYPERBATON_BINDINGS(preorder) {
  using namespace nb::literals;

  m.def(
      "preorder",
      [](const Array<double>& scores, const Ints& offsets, std::size_t beam, bool complete, unsigned n_threads,
         const Progress& progress) {
        if (offsets.size() == 0) throw Error("offsets must not be empty");
        std::vector<std::uint16_t> orders(static_cast<std::size_t>(view(offsets).back()));
        std::vector<double> logprobs(offsets.size() - 1);
        without_gil([&] {
          preorder(view(scores), view(offsets), {.beam = beam, .complete = complete, .n_threads = n_threads}, orders,
                   logprobs, progress);
        });
        return arrays(std::move(orders), std::move(logprobs));
      },
      "scores"_a, "offsets"_a, nb::kw_only(), "beam"_a, "complete"_a, "n_threads"_a, "progress"_a.none(),
      "The most probable order of each sentence, and its log-probability.");

  m.def(
      "complete_orders",
      [](const Shorts& visits, const Ints& visit_offsets, const Ints& offsets) {
        if (offsets.size() == 0 || visit_offsets.size() != offsets.size()) throw Error("every sentence needs an order");
        const auto visited = view(visits);
        const auto starts = view(visit_offsets), ends = view(offsets);
        std::vector<std::uint16_t> orders(static_cast<std::size_t>(ends.back()));
        const std::span<std::uint16_t> all(orders);
        for (std::size_t s = 0; s + 1 < ends.size(); ++s)
          attach_unvisited(
              visited.subspan(static_cast<std::size_t>(starts[s]), static_cast<std::size_t>(starts[s + 1] - starts[s])),
              all.subspan(static_cast<std::size_t>(ends[s]), static_cast<std::size_t>(ends[s + 1] - ends[s])));
        return to_numpy(std::move(orders));
      },
      "visits"_a, "visit_offsets"_a, "offsets"_a, "Orders of some words as orders of all words of their sentences.");
}

}  // namespace hyperbaton::bindings
