#include "texts.hh"

namespace hyperbaton::bindings {

HYPERBATON_BINDINGS(texts) {
  using namespace nb::literals;

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
}

}  // namespace hyperbaton::bindings
