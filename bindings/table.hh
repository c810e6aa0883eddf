// The arrays of a phrase table from Python, for all bindings that use one.
#pragma once

#include "module.hh"
#include "phrases/pair_scores.hh"
#include "phrases/score.hh"

namespace hyperbaton::bindings {

inline SpansView view_spans(const Words& sentence, const Shorts& begin, const Bytes& length) {
  if (begin.size() != sentence.size() || length.size() != sentence.size()) throw Error("span columns differ in length");
  return {view(sentence), view(begin), view(length)};
}

// Spans that must be inside a text.
inline SpansView spans_of(TokensView text, const Words& sentence, const Shorts& begin, const Bytes& length) {
  const auto spans = view_spans(sentence, begin, length);
  for (std::size_t i = 0; i < spans.size(); ++i)
    if (spans.sentence[i] >= text.n_sentences() || spans.begin[i] + spans.length[i] > text[spans.sentence[i]].size())
      throw Error("the samples belong to a different text");
  return spans;
}

inline std::span<const InnerLink> view_inner(const Array2<std::uint8_t>& points) {
  if (points.shape(1) != 2) throw Error("inner links need the shape (n, 2)");
  return {reinterpret_cast<const InnerLink*>(points.data()), points.shape(0)};
}

// A column of whole numbers, plain or packed, whose array is kept alive while the core uses it.
class NumberColumn {
 public:
  template <class T>
  explicit NumberColumn(const Array<T>& plain) : array_(nb::cast(plain)), view_(bindings::view(plain)) {}
  explicit NumberColumn(const Keys& packed)
      : array_(nb::cast(packed)), view_(NumbersView::packed(bindings::view(packed))) {}
  const NumbersView& view() const { return view_; }

 private:
  nb::object array_;
  NumbersView view_;
};

// The arrays of phrases, kept alive while the core uses them.
struct PhraseArrays {
  NumberColumn begins, lengths, words;

  PhrasesView phrases() const { return {.begins = begins.view(), .lengths = lengths.view(), .words = words.view()}; }
};

// The arrays of a phrase table.
struct TableArrays {
  PhraseArrays source, target;
  NumberColumn offsets, targets, link_sets, link_offsets;
  Array2<std::uint8_t> links;

  PairsView pairs() const {
    return {.source = source.phrases(),
            .target = target.phrases(),
            .offsets = offsets.view(),
            .targets = targets.view(),
            .links = {link_sets.view(), link_offsets.view(), view_inner(links)}};
  }
};

// Counts of phrase pairs, and of the phrases of both sides.
struct CountArrays {
  NumberColumn pairs, source, target;

  CountsView counts() const { return {.pairs = pairs.view(), .source = source.view(), .target = target.view()}; }
};

// A lexical table, with its arrays: those of the probabilities, or of the counts that they are computed from.
struct LexicalArrays {
  NumberColumn offsets, targets;
  Array2<double> probabilities;
  std::optional<CountArrays> counts;  // of entries, and of the words of both sides
  VocabularySizes sizes;

  LexicalTable table() const {
    LexicalTable table{.offsets = offsets.view(),
                       .targets = targets.view(),
                       .probabilities = {probabilities.data(), probabilities.size()},
                       .counts = {},
                       .sizes = sizes};
    if (counts) table.counts = counts->counts();
    return table;
  }
};

// Scores of phrase pairs: all of them, distinct rows and the number of each pair's, or the lexical weights and counts from
// which the others are computed. If the lexical weights are computed too, only those of pairs `numbers` are stored.
struct ScoreArrays {
  Array2<float> stored;
  std::optional<NumberColumn> numbers = std::nullopt;
  std::optional<CountArrays> counts = std::nullopt;
  std::optional<LexicalArrays> words = std::nullopt;

  PairScores scores() const {
    const std::span<const float> values(stored.data(), stored.size());
    if (words) return {values, counts->counts(), words->table(), numbers->view()};
    if (counts) return {values, counts->counts()};
    return numbers ? PairScores(values, stored.shape(1), numbers->view()) : PairScores(values, stored.shape(1));
  }
  // Whether there is a number for each pair and phrase of a table.
  bool fits(const PairsView& pairs) const {
    const auto n = words ? counts->pairs.view().size() : numbers ? numbers->view().size() : stored.shape(0);
    return n == pairs.targets.size() && (!counts || (counts->source.view().size() == pairs.source.size() &&
                                                     counts->target.view().size() == pairs.target.size()));
  }
};

}  // namespace hyperbaton::bindings
