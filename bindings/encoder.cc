#include "next_position/encoder.hh"

#include "network/orientation_encoder.hh"
#include "networks.hh"
#include "next_position/jump_logprobs.hh"

namespace hyperbaton::bindings {

namespace {

using Numbers = Array<std::int32_t>;

EncoderText text_of(const Numbers& words, const std::optional<Numbers>& labels, const Ints& offsets) {
  if (offsets.size() == 0) throw Error("offsets must not be empty");
  return {
      .words = view(words), .labels = labels ? view(*labels) : std::span<const std::int32_t>{}, .offsets = view(offsets)};
}

}  // namespace

HYPERBATON_BINDINGS(encoder) {
  using namespace nb::literals;

  nb::class_<Encoder>(m, "Encoder", "A network that encodes whole sentences, over borrowed embeddings.")
      .def(
          "__init__",
          [](Encoder* self, const std::map<std::string, Halves>& arrays) { new (self) Encoder(matrices_of(arrays)); },
          "arrays"_a.noconvert(), nb::keep_alive<1, 2>(),
          "Half-precision arrays, as bits, by name; they must not be converted or modified.")
      .def(
          "jump_logprobs",
          [](const Encoder& self, const Numbers& words, const std::optional<Numbers>& labels, const Ints& offsets,
             unsigned n_threads) {
            const auto text = text_of(words, labels, offsets);
            std::vector<double> logprobs(static_cast<std::size_t>(jump_starts(text.offsets).back()));
            without_gil([&] { self.jump_logprobs(text, logprobs, n_threads, make_progress()); });
            return to_numpy(std::move(logprobs));
          },
          "words"_a, "labels"_a.none(), "offsets"_a, nb::kw_only(), "n_threads"_a,
          "log P(NP | CP) of all jumps, sentence by sentence.");

  nb::class_<OrientationEncoder>(m, "OrientationEncoder",
                                 "A network that scores classes of phrase pairs, over borrowed embeddings.")
      .def(
          "__init__",
          [](OrientationEncoder* self, const std::map<std::string, Halves>& arrays) {
            new (self) OrientationEncoder(matrices_of(arrays));
          },
          "arrays"_a.noconvert(), nb::keep_alive<1, 2>(),
          "Half-precision arrays, as bits, by name; they must not be converted or modified.")
      .def(
          "class_scores",
          [](const OrientationEncoder& self, const Numbers& words, const std::optional<Numbers>& labels,
             const Ints& offsets, const Ints& phrase_offsets, const Array2<std::int32_t>& phrases, unsigned n_threads) {
            const auto text = text_of(words, labels, offsets);
            if (phrases.shape(1) != 4) throw Error("phrases need begin, end, first and last target word");
            const EncoderPhrases places{view(phrase_offsets), view(phrases)};
            std::vector<float> scores(phrases.shape(0) * self.n_classes());
            without_gil([&] { self.scores(text, places, scores, n_threads); });
            return to_numpy(std::move(scores), self.n_classes());
          },
          "words"_a, "labels"_a.none(), "offsets"_a, "phrase_offsets"_a, "phrases"_a, nb::kw_only(), "n_threads"_a,
          "Scores (phrases, classes); phrases (n, 4) by sentence: begin, end, rows of the first and last target words.");
}

}  // namespace hyperbaton::bindings
