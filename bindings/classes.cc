#include "corpus/classes.hh"

#include "corpus/class_file.hh"
#include "module.hh"

namespace hyperbaton::bindings {

HYPERBATON_BINDINGS(classes) {
  using namespace nb::literals;

  nb::class_<WordBigrams>(m, "WordBigrams", "Bigram counts of words, including sentence boundaries.")
      .def(
          "__init__",
          [](WordBigrams* self, const Array<WordId>& tokens, const Array<std::int64_t>& offsets, std::size_t n_words,
             unsigned n_threads) {
            const nb::gil_scoped_release release;
            new (self) WordBigrams(view(tokens), view(offsets), n_words, n_threads);
          },
          "tokens"_a, "offsets"_a, "n_words"_a, "n_threads"_a);

  m.def(
      "exchange_classes",
      [](const WordBigrams& bigrams, const Array<ClassId>& initial, std::size_t n_classes, std::size_t max_sweeps,
         std::size_t batch_size, unsigned n_threads, const std::optional<nb::callable>& progress) {
        const ExchangeOptions options{
            .n_classes = n_classes, .max_sweeps = max_sweeps, .batch_size = batch_size, .n_threads = n_threads};
        const auto report = make_progress(progress);
        Classes classes;
        {
          const nb::gil_scoped_release release;
          classes = exchange(bigrams, view(initial), options, report);
        }
        return nb::make_tuple(to_numpy(std::move(classes.of_word)), to_numpy(std::move(classes.criterion)));
      },
      "bigrams"_a, "initial"_a, nb::kw_only(), "n_classes"_a, "max_sweeps"_a, "batch_size"_a, "n_threads"_a,
      "progress"_a.none(), "Class of each word, and the criterion before and after each sweep.");

  nb::class_<ClassFileReader>(m, "ClassFileReader", "Reads word classes as mkcls writes them.")
      .def(nb::init<Vocabulary>(), "vocabulary"_a)
      .def(
          "feed",
          [](ClassFileReader& self, const nb::bytes& piece) { self.feed(std::string_view(piece.c_str(), piece.size())); },
          "piece"_a)
      .def("finish", [](ClassFileReader& self) { self.finish(); })
      .def(
          "take", [](ClassFileReader& self) { return to_numpy(self.take()); },
          "Class of each word of the vocabulary, 0 for words that are not in the file; call once, at the end.");

  m.def(
      "format_classes",
      [](const Vocabulary& vocabulary, const Array<ClassId>& classes) {
        const auto text = format_classes(vocabulary, view(classes));
        return nb::bytes(text.data(), text.size());
      },
      "vocabulary"_a, "classes"_a, "word<TAB>class for each word that has a class, sorted by bytes.");

  m.def(
      "carry_classes",
      [](const Vocabulary& from, const Array<ClassId>& classes, const Vocabulary& to) {
        return to_numpy(carry_classes(from, view(classes), to));
      },
      "source"_a, "classes"_a, "target"_a, "Classes by the word numbers of another vocabulary.");
}

}  // namespace hyperbaton::bindings
