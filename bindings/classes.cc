#include "corpus/classes.hh"

#include "corpus/class_file.hh"
#include "texts.hh"

namespace hyperbaton::bindings {

HYPERBATON_BINDINGS(classes) {
  using namespace nb::literals;

  nb::class_<WordBigrams>(m, "WordBigrams", "Bigram counts of words, including sentence boundaries.")
      .def(
          "__init__",
          [](WordBigrams* self, const BoundTokens& text, std::size_t n_words, unsigned n_threads) {
            const nb::gil_scoped_release release;
            new (self) WordBigrams(text.tokens(), n_words, n_threads);
          },
          "text"_a, "n_words"_a, "n_threads"_a);

  m.def(
      "exchange_classes",
      [](const WordBigrams& bigrams, const Array<ClassId>& initial, std::size_t n_classes, std::size_t max_sweeps,
         std::size_t batch_size, unsigned n_threads, const Progress& progress) {
        const ExchangeOptions options{
            .n_classes = n_classes, .max_sweeps = max_sweeps, .batch_size = batch_size, .n_threads = n_threads};
        auto classes = without_gil([&] { return exchange(bigrams, view(initial), options, progress); });
        return arrays(std::move(classes.of_word), std::move(classes.criterion));
      },
      "bigrams"_a, "initial"_a, nb::kw_only(), "n_classes"_a, "max_sweeps"_a, "batch_size"_a, "n_threads"_a,
      "progress"_a.none(), "Class of each word, and the criterion before and after each sweep.");

  nb::class_<ClassFileReader> reader(m, "ClassFileReader", "Reads word classes as mkcls writes them.");
  def_feed(reader)
      .def(nb::init<Vocabulary>(), "vocabulary"_a)
      .def(
          "take", [](ClassFileReader& self) { return to_numpy(self.take()); },
          "Class of each word of the vocabulary, 0 for words that are not in the file; call once, at the end.");

  m.def(
      "format_classes",
      [](const Vocabulary& vocabulary, const Array<ClassId>& classes) {
        return to_bytes(format_classes(vocabulary, view(classes)));
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
