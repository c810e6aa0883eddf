#include "corpus/classes.hh"

#include "module.hh"

namespace hyperbaton::bindings {

HYPERBATON_BINDINGS(classes) {
  using namespace nb::literals;

  nb::class_<WordBigrams>(m, "WordBigrams", "How often each word follows each other one, sentence boundaries included.")
      .def(
          "__init__",
          [](WordBigrams* self, const Array<WordId>& tokens, const Array<std::int64_t>& offsets, std::size_t n_words,
             unsigned n_threads) {
            const nb::gil_scoped_release release;
            new (self) WordBigrams(view(tokens), view(offsets), n_words, n_threads);
          },
          "tokens"_a, "offsets"_a, "n_words"_a, "n_threads"_a)
      .def_prop_ro("n_types", &WordBigrams::n_types);

  m.def(
      "exchange_classes",
      [](const WordBigrams& bigrams, const Array<ClassId>& initial, std::size_t n_classes, std::size_t max_sweeps,
         double tolerance, std::size_t batch_size, unsigned n_threads, const std::optional<nb::callable>& progress) {
        const ExchangeOptions options{.n_classes = n_classes,
                                      .max_sweeps = max_sweeps,
                                      .tolerance = tolerance,
                                      .batch_size = batch_size,
                                      .n_threads = n_threads};
        const auto report = make_progress(progress);
        Classes classes;
        {
          const nb::gil_scoped_release release;
          classes = exchange(bigrams, view(initial), options, report);
        }
        return nb::make_tuple(to_numpy(std::move(classes.of_word)), to_numpy(std::move(classes.criterion)));
      },
      "bigrams"_a, "initial"_a, nb::kw_only(), "n_classes"_a, "max_sweeps"_a, "tolerance"_a, "batch_size"_a,
      "n_threads"_a, "progress"_a.none(), "Class of each word, and the criterion before and after each sweep.");
}

}  // namespace hyperbaton::bindings
