#include "lm/arpa.hh"
#include "lm/build.hh"
#include "lm/ngram_model.hh"
#include "lm/quantize.hh"
#include "lm/score.hh"
#include "lm_tables.hh"
#include "module.hh"

namespace hyperbaton::bindings {

namespace {

using Bytes = Array<std::uint8_t>;
using Bytes2 = Array2<std::uint8_t>;
using Floats = Array<float>;
using Ints = Array<std::int64_t>;
using Words = Array<std::uint32_t>;

// The view does not hold the arrays: whoever makes a model keeps its tuple alive. A copy would not live long enough, so
// arrays that do not fit as they are, are refused.
NgramModel view_model(const nb::tuple& orders) {
  std::vector<NgramSlots> slots;
  for (const nb::handle order : orders) {
    const auto parts = nb::cast<nb::tuple>(order);
    const auto bytes = nb::cast<Bytes2>(parts[0], false);
    const auto prob_bins = nb::cast<Floats>(parts[1], false), backoff_bins = nb::cast<Floats>(parts[2], false);
    slots.push_back({{bytes.data(), bytes.size()}, bytes.shape(1), view(prob_bins), view(backoff_bins)});
  }
  return NgramModel(slots);
}

}  // namespace

HYPERBATON_BINDINGS(lm) {
  using namespace nb::literals;

  nb::class_<NgramModel>(m, "NgramModel", "A language model over arrays: one tuple (slots, bins, bins) for each order.")
      .def(
          "__init__", [](NgramModel* self, const nb::tuple& orders) { new (self) NgramModel(view_model(orders)); },
          "orders"_a, nb::keep_alive<1, 2>())
      .def_prop_ro("order", &NgramModel::order)
      .def_prop_ro("n_words", &NgramModel::n_words)
      .def(
          "score_words",
          [](const NgramModel& self, const Words& tokens, const Ints& offsets, unsigned n_threads,
             const std::optional<nb::callable>& progress) {
            const auto report = make_progress(progress);
            std::vector<float> logprobs;
            {
              const nb::gil_scoped_release release;
              logprobs = score_words(self, {view(tokens), view(offsets)}, n_threads, report);
            }
            return to_numpy(std::move(logprobs));
          },
          "tokens"_a, "offsets"_a, nb::kw_only(), "n_threads"_a, "progress"_a.none(),
          "Natural log of the probability of each word and of each sentence's end.")
      .def(
          "quantize",
          [](const NgramModel& self, std::size_t n_bins) {
            std::vector<NgramArrays> tables;
            {
              const nb::gil_scoped_release release;
              tables = quantize(self, n_bins);
            }
            return to_tuple(std::move(tables));
          },
          "n_bins"_a, "The tables of the same model with values in bins.");

  nb::class_<ArpaReader> reader(m, "ArpaReader", "Reads a language model in the ARPA format.");
  def_feed(reader)
      .def(nb::init<unsigned>(), "n_threads"_a)
      .def("vocabulary", [](const ArpaReader& self) { return self.vocabulary(); })
      .def(
          "take", [](ArpaReader& self) { return to_tuple(self.take()); },
          "The tables of each order; call once, at the end.");

  nb::class_<ArpaWriter>(m, "ArpaWriter", "Writes a language model in the ARPA format, in pieces.")
      .def(
          "__init__",
          [](ArpaWriter* self, const NgramModel& model, const Bytes& bytes, const Ints& offsets,
             unsigned n_threads) {
            const nb::gil_scoped_release release;
            new (self) ArpaWriter(model, view(bytes), view(offsets), n_threads);
          },
          "model"_a, "vocabulary_bytes"_a, "vocabulary_offsets"_a, "n_threads"_a, nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>(),
          nb::keep_alive<1, 4>())
      .def(
          "next",
          [](ArpaWriter& self) {
            std::string piece;
            {
              const nb::gil_scoped_release release;
              piece = self.next();
            }
            return nb::bytes(piece.data(), piece.size());
          },
          "The next piece of text, empty at the end.");
}

}  // namespace hyperbaton::bindings
