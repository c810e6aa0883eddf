#include "corpus/annotation.hh"
#include "corpus/conllu.hh"
#include "corpus/head_spans.hh"
#include "texts.hh"

namespace hyperbaton::bindings {

namespace {

nb::tuple to_tuple(TreesBuffer&& trees) {
  return arrays(std::move(trees.labels), std::move(trees.begins), std::move(trees.ends), std::move(trees.parents),
                std::move(trees.offsets));
}

}  // namespace

HYPERBATON_BINDINGS(annotations) {
  using namespace nb::literals;

  m.attr("UNKNOWN_LABEL") = kUnknownLabel;

  // The readers keep views of the text's arrays, so Python must keep those alive.
  nb::class_<TreeReader> trees(m, "TreeReader", "Reads bracketed trees whose leaves are the tokens of a text.");
  trees.def(
      "__init__",
      [](TreeReader* self, const BoundTokens& tokens, const Spelling& spelling) {
        new (self) TreeReader(spelled(tokens, spelling));
      },
      "tokens"_a, "spelling"_a, nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>());
  def_feed(trees);
  trees
      .def(
          "take", [](TreeReader& self) { return to_tuple(self.take()); },
          "Labels, begins, ends, parents and sentence offsets; call once, at the end.")
      .def("labels", [](const TreeReader& self) { return self.labels(); });

  nb::class_<BoundTrees>(m, "TreeColumns", "The nodes of trees in pre-order, as columns.")
      .def(nb::init<Shorts, Shorts, Shorts, Array<std::int32_t>, Ints>(), nb::kw_only(), "labels"_a, "begins"_a, "ends"_a,
           "parents"_a, "offsets"_a);

  m.def(
      "format_trees",
      [](const BoundTrees& trees, const Vocabulary& vocabulary, const BoundTokens& tokens, const Spelling& spelling,
         const Ints& sentences) {
        const auto text = spelled(tokens, spelling);
        return to_bytes(without_gil([&] { return format_trees(trees.view_trees(), vocabulary, text, view(sentences)); }));
      },
      "trees"_a, "vocabulary"_a, "tokens"_a, "spelling"_a, "sentences"_a, "The sentences' trees as bracketed text.");

  m.def(
      "head_spans",
      [](const Array<std::int32_t>& heads, const Shorts& relations, const Shorts& tags, const Ints& offsets,
         std::uint16_t first_tag) {
        return to_tuple(
            without_gil([&] { return head_spans({view(heads), view(relations), view(tags), view(offsets)}, first_tag); }));
      },
      "heads"_a, "relations"_a, "tags"_a, "offsets"_a, nb::kw_only(), "first_tag"_a,
      "Dependencies as constituents: labels, begins, ends, parents and sentence offsets.");

  nb::class_<ConlluReader> conllu(m, "ConlluReader", "Reads CoNLL-U, with or without a text to check it against.");
  conllu.def("__init__", [](ConlluReader* self) { new (self) ConlluReader(std::nullopt); })
      .def(
          "__init__",
          [](ConlluReader* self, const BoundTokens& tokens, const Spelling& spelling) {
            new (self) ConlluReader(spelled(tokens, spelling));
          },
          "tokens"_a, "spelling"_a, nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>());
  def_feed(conllu);
  conllu
      .def(
          "take",
          [](ConlluReader& self) {
            auto columns = self.take();
            return arrays(std::move(columns.heads), std::move(columns.relations), std::move(columns.upos),
                          std::move(columns.xpos), std::move(columns.offsets));
          },
          "Heads, relations, UPOS, XPOS and sentence offsets; call once, at the end.")
      .def(
          "take_tokens", [](ConlluReader& self) { return to_numpy(self.take_tokens()); },
          "Token numbers of the text, if it was built by this reader; call once, at the end.")
      .def("words", [](const ConlluReader& self) { return self.words(); })
      .def("relations", [](const ConlluReader& self) { return self.relations(); })
      .def("upos", [](const ConlluReader& self) { return self.upos(); })
      .def("xpos", [](const ConlluReader& self) { return self.xpos(); });
}

}  // namespace hyperbaton::bindings
