#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include "corpus/line_filter.hh"
#include "corpus/text.hh"
#include "module.hh"
#include "table.hh"
#include "texts.hh"

namespace hyperbaton::bindings {

namespace {

// The number of each word in a vocabulary that `find` looks up.
OutArray<std::uint32_t> numbers_of(const Spelling& words, const auto& find) {
  const auto spelled = words.words();
  std::vector<WordId> numbers(spelled.size());
  for (std::size_t i = 0; i < spelled.size(); ++i) numbers[i] = find(spelled[i]);
  return to_numpy(std::move(numbers));
}

}  // namespace

HYPERBATON_BINDINGS(corpus) {
  using namespace nb::literals;

  m.attr("UNKNOWN_WORD") = kUnknownWord;

  nb::class_<Vocabulary>(m, "Vocabulary", "Words numbered from 0 in order of first appearance.")
      .def(nb::init<>())
      .def(
          "__init__",
          [](Vocabulary* self, const Bytes& bytes, const Ints& offsets) {
            new (self) Vocabulary(view(bytes), view(offsets));
          },
          "bytes"_a, "offsets"_a)
      .def("__len__", &Vocabulary::size)
      .def(
          "find",
          [](const Vocabulary& self, const std::string& word) -> std::int64_t {
            const auto id = self.find(word);
            return id == kUnknownWord ? -1 : static_cast<std::int64_t>(id);
          },
          "word"_a, "The word's number, -1 if it has none.")
      .def(
          "add", [](Vocabulary& self, const std::string& word) { return self.add(word); }, "word"_a,
          "The word's number; new words are added.")
      .def(
          "find_all",
          [](const Vocabulary& self, const Spelling& words) {
            return numbers_of(words, [&](std::string_view word) { return self.find(word); });
          },
          "words"_a, "The number of each word of another vocabulary, 2^32 - 1 if it has none.")
      .def(
          "arrays",
          [](const Vocabulary& self) {
            std::vector<std::uint8_t> bytes(self.bytes().begin(), self.bytes().end());
            return nb::make_tuple(to_numpy(std::move(bytes)), to_numpy(std::vector<std::int64_t>(self.offsets())));
          },
          "Bytes of all words, and where each starts.");

  nb::class_<BoundTokens>(m, "Tokens", "Sentences of word numbers.")
      .def(
          "__init__",
          [](BoundTokens* self, Words words, Ints offsets) {
            if (offsets.size() == 0 || view(offsets).back() != static_cast<std::int64_t>(words.size()))
              throw Error("the offsets of sentences do not match their words");
            new (self) BoundTokens{std::move(words), std::move(offsets)};
          },
          nb::kw_only(), "words"_a, "offsets"_a);

  nb::class_<Spelling>(m, "Spelling", "The words of a vocabulary.")
      .def(nb::init<Bytes, Ints>(), nb::kw_only(), "bytes"_a, "offsets"_a);

  m.def(
      "find_ordered",
      [](const Spelling& vocabulary, const NumberColumn& order, const Spelling& words) {
        const auto known = vocabulary.words();
        if (order.view().size() != known.size()) throw_damaged("the order of a vocabulary does not match it");
        return numbers_of(words, [&](std::string_view word) { return find_ordered(known, order.view(), word); });
      },
      "vocabulary"_a, "order"_a, "words"_a,
      "The number of each word in a vocabulary whose numbers are given in the byte order of its words, 2^32 - 1 if it has "
      "none.");

  m.def(
      "select_words",
      [](const Spelling& vocabulary, const Array<std::int64_t>& numbers) {
        std::vector<std::string_view> chosen;
        for (const auto number : view(numbers)) chosen.push_back(word_of(vocabulary.words(), to_size(number)));
        return to_arrays(chosen);
      },
      "vocabulary"_a, "numbers"_a, "The words with these numbers, as bytes of all and where each starts.");

  nb::class_<TextBuilder> text_builder(m, "TextBuilder", "Turns bytes of tokenized text into word numbers, in one pass.");
  def_feed(text_builder)
      .def(nb::init<Vocabulary, bool>(), "vocabulary"_a, "repair"_a)
      .def_prop_ro("n_lines", &TextBuilder::n_lines)
      .def(
          "take",
          [](TextBuilder& self) {
            auto part = self.take();
            return arrays(std::move(part.tokens), std::move(part.offsets));
          },
          "Token numbers and sentence offsets (from 0) of the text read since the last call.")
      .def("vocabulary", [](const TextBuilder& self) { return self.vocabulary(); })
      .def(
          "faults",
          [](const TextBuilder& self) {
            std::vector<std::int64_t> lines;
            std::vector<std::uint8_t> kinds;
            for (const auto& [line, fault] : self.faults()) {
              lines.push_back(line);
              kinds.push_back(static_cast<std::uint8_t>(fault));
            }
            return arrays(std::move(lines), std::move(kinds));
          },
          "0-based lines that repair emptied, and the fault of each, see describe_fault.");

  m.def(
      "find_fault",
      [](const nb::bytes& line) {
        return static_cast<std::uint8_t>(find_fault(std::string_view(line.c_str(), line.size()), false));
      },
      "line"_a, "The fault of a line of raw text, see describe_fault; 0 if there is none.");

  m.def(
      "find_sentence_fault",
      [](const nb::bytes& line, bool lenient) {
        return static_cast<std::uint8_t>(find_sentence_fault(std::string_view(line.c_str(), line.size()), lenient));
      },
      "line"_a, "lenient"_a,
      "The fault of a tokenized line, see describe_fault; 0 if there is none. If lenient, tokens may contain anything.");

  m.def(
      "describe_fault", [](std::uint8_t kind) { return describe(static_cast<LineFault>(kind)); }, "kind"_a,
      "The message for a kind of fault.");

  nb::class_<LineFilter>(m, "LineFilter", "Copies selected lines of a file byte for byte.")
      .def(
          "__init__", [](LineFilter* self, const Bytes& keep) { new (self) LineFilter(view(keep)); }, "keep"_a)
      .def(
          "feed",
          [](LineFilter& self, const nb::bytes& piece) {
            return to_bytes(self.feed(std::string_view(piece.c_str(), piece.size())));
          },
          "piece"_a)
      .def("finish", [](LineFilter& self) { return to_bytes(self.finish()); });

  m.def(
      "format_text",
      [](const BoundTokens& tokens, const Spelling& spelling, const Ints& sentences) {
        const auto text = spelled(tokens, spelling);
        return to_bytes(without_gil([&] { return format_text(text, view(sentences)); }));
      },
      "tokens"_a, "spelling"_a, "sentences"_a, "The sentences as lines of text.");
}

}  // namespace hyperbaton::bindings
