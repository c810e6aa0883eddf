#include "corpus/annotation.hh"
#include "corpus/conllu.hh"
#include "corpus/head_spans.hh"
#include "corpus/trees.hh"
#include "texts.hh"

namespace hyperbaton::bindings {

namespace {

using Ids = Array<std::uint32_t>;
using Offsets = Array<std::int64_t>;
using Bytes = Array<std::uint8_t>;
using Labels = Array<std::uint16_t>;

// The nodes of trees, with their arrays.
struct BoundTrees {
  Labels labels, begins, ends;
  Array<std::int32_t> parents;
  Offsets offsets;
  TreesView view_trees() const {
    return {.labels = view(labels),
            .begins = view(begins),
            .ends = view(ends),
            .parents = view(parents),
            .offsets = view(offsets)};
  }
};

nb::tuple to_tuple(TreesBuffer&& trees) {
  return nb::make_tuple(to_numpy(std::move(trees.labels)), to_numpy(std::move(trees.begins)),
                        to_numpy(std::move(trees.ends)), to_numpy(std::move(trees.parents)),
                        to_numpy(std::move(trees.offsets)));
}

}  // namespace

HYPERBATON_BINDINGS(annotations) {
  using namespace nb::literals;

  m.attr("UNKNOWN_LABEL") = kUnknownLabel;

  // The readers keep views of the text's arrays, so Python must keep those alive.
  nb::class_<TreeReader> trees(m, "TreeReader", "Reads bracketed trees whose leaves are the tokens of a text.");
  trees.def(
      "__init__",
      [](TreeReader* self, const Ids& tokens, const Offsets& offsets, const Bytes& bytes, const Offsets& byte_offsets) {
        new (self) TreeReader({view(tokens), view(offsets), view(bytes), view(byte_offsets)});
      },
      "tokens"_a, "offsets"_a, "vocabulary_bytes"_a, "vocabulary_offsets"_a, nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>(),
      nb::keep_alive<1, 4>(), nb::keep_alive<1, 5>());
  def_feed(trees);
  trees
      .def(
          "take", [](TreeReader& self) { return to_tuple(self.take()); },
          "Labels, begins, ends, parents and sentence offsets; call once, at the end.")
      .def("labels", [](const TreeReader& self) { return self.labels(); });

  nb::class_<BoundTrees>(m, "TreeColumns", "The nodes of trees in pre-order, as columns.")
      .def(nb::init<Labels, Labels, Labels, Array<std::int32_t>, Offsets>(), nb::kw_only(), "labels"_a, "begins"_a,
           "ends"_a, "parents"_a, "offsets"_a);

  m.def(
      "format_trees",
      [](const BoundTrees& trees, const Vocabulary& vocabulary, const BoundTokens& tokens, const Spelling& spelling,
         const Offsets& sentences) {
        const SpelledText text{view(tokens.words), view(tokens.offsets), view(spelling.bytes), view(spelling.offsets)};
        std::string out;
        {
          const nb::gil_scoped_release release;
          out = format_trees(trees.view_trees(), vocabulary, text, view(sentences));
        }
        return nb::bytes(out.data(), out.size());
      },
      "trees"_a, "vocabulary"_a, "tokens"_a, "spelling"_a, "sentences"_a, "The sentences' trees as bracketed text.");

  m.def(
      "head_spans",
      [](const Array<std::int32_t>& heads, const Labels& relations, const Labels& tags, const Offsets& offsets,
         std::uint16_t root, std::uint16_t first_relation, std::uint16_t first_tag) {
        TreesBuffer trees;
        {
          const nb::gil_scoped_release release;
          trees = head_spans({view(heads), view(relations), view(tags), view(offsets)}, {root, first_relation, first_tag});
        }
        return to_tuple(std::move(trees));
      },
      "heads"_a, "relations"_a, "tags"_a, "offsets"_a, nb::kw_only(), "root"_a, "first_relation"_a, "first_tag"_a,
      "Dependencies as constituents: labels, begins, ends, parents and sentence offsets.");

  nb::class_<ConlluReader> conllu(m, "ConlluReader", "Reads CoNLL-U, with or without a text to check it against.");
  conllu.def("__init__", [](ConlluReader* self) { new (self) ConlluReader(std::nullopt); })
      .def(
          "__init__",
          [](ConlluReader* self, const Ids& tokens, const Offsets& offsets, const Bytes& bytes,
             const Offsets& byte_offsets) {
            new (self) ConlluReader(SpelledText{view(tokens), view(offsets), view(bytes), view(byte_offsets)});
          },
          "tokens"_a, "offsets"_a, "vocabulary_bytes"_a, "vocabulary_offsets"_a, nb::keep_alive<1, 2>(),
          nb::keep_alive<1, 3>(), nb::keep_alive<1, 4>(), nb::keep_alive<1, 5>());
  def_feed(conllu);
  conllu
      .def(
          "take",
          [](ConlluReader& self) {
            auto columns = self.take();
            return nb::make_tuple(to_numpy(std::move(columns.heads)), to_numpy(std::move(columns.relations)),
                                  to_numpy(std::move(columns.upos)), to_numpy(std::move(columns.xpos)),
                                  to_numpy(std::move(columns.offsets)));
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
