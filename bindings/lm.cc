#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "lm/arpa.hh"
#include "lm/build.hh"
#include "lm/ngram_model.hh"
#include "lm/ngram_tree.hh"
#include "lm/packed_ngrams.hh"
#include "lm/quantize.hh"
#include "lm/score.hh"
#include "texts.hh"

namespace hyperbaton::bindings {

namespace {

using Bytes2 = Array2<std::uint8_t>;

// The slots of each order, of tables without bins.
nb::list to_slots(std::vector<NgramArrays>&& tables) {
  nb::list orders;
  for (auto& table : tables) orders.append(to_numpy(std::move(table.bytes), table.stride));
  return orders;
}

// The slots and bins of each order.
nb::list to_tables(std::vector<NgramArrays>&& tables) {
  nb::list orders;
  for (auto& table : tables)
    orders.append(nb::make_tuple(to_numpy(std::move(table.bytes), table.stride), to_numpy(std::move(table.prob_bins)),
                                 to_numpy(std::move(table.backoff_bins))));
  return orders;
}

// The view does not own the arrays: the caller keeps their tuple alive. A converted copy would not live long enough, so
// arrays that would need conversion are rejected.
NgramModel view_model(const nb::tuple& orders) {
  std::vector<NgramSlots> slots;
  for (const nb::handle order : orders) {
    const auto parts = nb::cast<nb::tuple>(order);
    const auto bytes = nb::cast<Bytes2>(parts[0], false);
    const auto prob_bins = nb::cast<Floats>(parts[1], false), backoff_bins = nb::cast<Floats>(parts[2], false);
    slots.push_back({view(bytes), bytes.shape(1), view(prob_bins), view(backoff_bins)});
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
          "count_ngrams",
          [](const NgramModel& self) {
            std::vector<std::size_t> counts;
            for (std::uint32_t n = 1; n <= self.order(); ++n) counts.push_back(self.count_ngrams(n));
            return counts;
          },
          "The number of n-grams of each order.")
      .def(
          "score_words",
          [](const NgramModel& self, const BoundTokens& text, unsigned n_threads, const Progress& progress) {
            return to_numpy(without_gil([&] { return score_words(self, text.tokens(), n_threads, progress); }));
          },
          "text"_a, nb::kw_only(), "n_threads"_a, "progress"_a.none(),
          "Natural log of the probability of each word and of each sentence's end.")
      .def(
          "quantize",
          [](const NgramModel& self, std::size_t n_bins) {
            return to_tables(without_gil([&] { return quantize(self, n_bins); }));
          },
          "n_bins"_a, "The slots, probability bins and back-off bins of each order of the quantised model.")
      .def_prop_ro("is_packed", &NgramModel::is_packed)
      .def(
          "pack",
          [](const NgramModel& self, const std::optional<std::tuple<Bytes, Bytes, Keys>>& pairs) {
            const auto words = pairs ? std::optional(WordPairs{.last = view(std::get<0>(*pairs)),
                                                               .first = view(std::get<1>(*pairs)),
                                                               .inside = view(std::get<2>(*pairs))})
                                     : std::nullopt;
            return to_tables(without_gil([&] { return pack_ngrams(self, words ? &*words : nullptr); }));
          },
          "pairs"_a.none(),
          "The slots and bins of each order of the packed model; with `pairs` (a flag for each word that can be the last "
          "of a phrase, one that can be the first, and increasing pairs of words inside phrases, the first in the upper 32 "
          "bits) only with n-grams of words that can follow each other.");

  nb::class_<ArpaReader> reader(m, "ArpaReader", "Reads a language model in the ARPA format.");
  def_feed(reader)
      .def(nb::init<unsigned>(), "n_threads"_a)
      .def("vocabulary", [](const ArpaReader& self) { return self.vocabulary(); })
      .def(
          "take", [](ArpaReader& self) { return to_slots(self.take()); },
          "The slots of each order; call once, at the end.");

  nb::class_<ArpaWriter>(m, "ArpaWriter", "Writes a language model in the ARPA format, in pieces.")
      .def(
          "__init__",
          [](ArpaWriter* self, const NgramModel& model, const Spelling& spelling, unsigned n_threads) {
            const nb::gil_scoped_release release;
            new (self) ArpaWriter(model, spelling.words(), n_threads);
          },
          "model"_a, "spelling"_a, "n_threads"_a, nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>())
      .def(
          "__init__",
          [](ArpaWriter* self, const NgramTree& tree, const Spelling& spelling, unsigned n_threads) {
            const nb::gil_scoped_release release;
            new (self) ArpaWriter(tree, spelling.words(), n_threads);
          },
          "tree"_a, "spelling"_a, "n_threads"_a, nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>())
      .def(
          "next", [](ArpaWriter& self) { return to_bytes(without_gil([&] { return self.next(); })); },
          "The next piece of text, empty at the end.");

  m.def(
      "build_ngram_tables",
      [](const std::vector<std::tuple<Array2<std::uint32_t>, Floats, Floats>>& orders, std::size_t n_words,
         unsigned n_threads) {
        std::vector<NgramColumns> columns;
        for (const auto& [words, prob, backoff] : orders) columns.push_back({view(words), view(prob), view(backoff)});
        return to_slots(without_gil([&] { return build_ngram_tables(columns, n_words, n_threads, make_progress()); }));
      },
      "orders"_a, nb::kw_only(), "n_words"_a, "n_threads"_a,
      "The slots of each order, from (words oldest first, log10 probabilities, log10 back-off weights) of each.");

  m.def(
      "build_tree_tables",
      [](const NgramTree& tree, unsigned n_threads) {
        return to_slots(without_gil([&] {
          const auto words = tree.words();
          std::vector<NgramColumns> columns;
          for (std::size_t k = 0; k < words.size(); ++k) {
            const auto& level = tree.levels()[k];
            columns.push_back({words[k], level.prob, level.weight, level.context, level.parent});
          }
          return build_ngram_tables(columns, tree.levels().front().size, n_threads, make_progress());
        }));
      },
      "tree"_a, nb::kw_only(), "n_threads"_a, "The slots of each order, from n-grams that were estimated in memory.");
}

}  // namespace hyperbaton::bindings
