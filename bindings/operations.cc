#include "module.hh"
#include "operations/text.hh"
#include "texts.hh"

namespace hyperbaton::bindings {

namespace {

// A linked bitext, with its arrays.
struct BoundBitext {
  BoundTokens source;
  Spelling source_words;
  BoundTokens target;
  Spelling target_words;
  Array2<std::uint16_t> links;
  Ints link_offsets;

  SpelledBitext bitext() const {
    SpelledBitext made{spelled(source, source_words), spelled(target, target_words), view_links(links, link_offsets)};
    made.check();
    return made;
  }
};

}  // namespace

HYPERBATON_BINDINGS(operations) {
  using namespace nb::literals;

  nb::class_<BoundBitext>(m, "SpelledBitext", "A bitext with links and the spelling of its words.")
      .def(nb::init<BoundTokens, Spelling, BoundTokens, Spelling, Array2<std::uint16_t>, Ints>(), nb::kw_only(), "source"_a,
           "source_words"_a, "target"_a, "target_words"_a, "links"_a, "link_offsets"_a);

  m.def(
      "find_singletons", [](const BoundBitext& bitext) { return to_numpy(find_singletons(bitext.bitext())); }, "bitext"_a,
      "Whether each source word is translated as itself.");

  m.def(
      "write_operations",
      [](const BoundBitext& bitext, const Bytes& singletons, const Progress& progress) {
        const auto view_of_bitext = bitext.bitext();
        if (singletons.size() + 1 != bitext.source_words.offsets.size())
          throw Error("there must be a flag for each source word");
        auto text = write_operations(view_of_bitext, view(singletons), progress);
        return nb::make_tuple(to_numpy(std::move(text.tokens)), to_numpy(std::move(text.offsets)),
                              std::move(text.vocabulary));
      },
      "bitext"_a, "singletons"_a, "progress"_a.none(),
      "The operations of each sentence pair: tokens, offsets, vocabulary.");
}

}  // namespace hyperbaton::bindings
