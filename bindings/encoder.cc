#include "next_position/encoder.hh"

#include <nanobind/stl/map.h>

#include "module.hh"
#include "next_position/jump_logprobs.hh"

namespace hyperbaton::bindings {

HYPERBATON_BINDINGS(encoder) {
  using namespace nb::literals;
  using Halves = Array2<std::uint16_t>;
  using Numbers = Array<std::int32_t>;
  using Ints = Array<std::int64_t>;

  nb::class_<Encoder>(m, "Encoder", "A network that reads a sentence whole; over borrowed embeddings.")
      .def(
          "__init__",
          [](Encoder* self, const std::map<std::string, Halves>& arrays) {
            std::map<std::string, HalfMatrix> matrices;
            for (const auto& [name, array] : arrays)
              matrices.emplace(name, HalfMatrix{{array.data(), array.size()}, array.shape(0), array.shape(1)});
            new (self) Encoder(matrices);
          },
          nb::arg("arrays").noconvert(), nb::keep_alive<1, 2>(),
          "Arrays of half precision, as bits, by name; none of them may be converted or change.")
      .def(
          "jump_logprobs",
          [](const Encoder& self, const Numbers& words, const std::optional<Numbers>& labels, const Ints& offsets,
             unsigned n_threads, const std::optional<nb::callable>& progress) {
            const auto report = make_progress(progress);
            const EncoderText text{view(words), labels ? view(*labels) : std::span<const std::int32_t>{}, view(offsets)};
            if (offsets.size() == 0) throw Error("offsets must not be empty");
            std::vector<double> logprobs(static_cast<std::size_t>(jump_starts(text.offsets).back()));
            {
              const nb::gil_scoped_release release;
              self.jump_logprobs(text, logprobs, n_threads, report);
            }
            return to_numpy(std::move(logprobs));
          },
          "words"_a, "labels"_a.none(), "offsets"_a, nb::kw_only(), "n_threads"_a, "progress"_a.none(),
          "log P(NP | CP) of all jumps, sentence by sentence.");
}

}  // namespace hyperbaton::bindings
