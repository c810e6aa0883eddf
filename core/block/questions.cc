#include "block/questions.hh"

#include <algorithm>

#include "base/errors.hh"

namespace hyperbaton {

void BlockSentence::neighbourhood(SourceSpan span, Neighbourhood& around) const {
  around.any = false;
  around.siblings.clear();
  around.ancestors.clear();
  std::int32_t parent = -1;
  for (std::size_t k = 0; k < labels.size(); ++k) {
    if (begins[k] > span.begin || ends[k] < span.end) continue;
    if (begins[k] == span.begin && ends[k] == span.end) {
      parent = parents[k];
      break;
    }
    parent = static_cast<std::int32_t>(k);
  }
  if (parent < 0) return;
  const auto p = to_size(parent);
  around.any = true;
  around.parent_label = labels[p];
  around.parent = {begins[p], ends[p]};
  for (std::int32_t above = parents[p]; above >= 0; above = parents[to_size(above)]) {
    const auto k = to_size(above);
    around.ancestors.push_back({labels[k], {begins[k], ends[k]}});
  }
  for (std::size_t k = p + 1; k < labels.size(); ++k)
    if (parents[k] == parent && (ends[k] <= span.begin || begins[k] >= span.end))
      around.siblings.push_back({.label = labels[k], .span = {begins[k], ends[k]}, .right = begins[k] >= span.end});
}

BlockSentence BlockText::operator[](std::size_t s) const {
  BlockSentence sentence{.words = words[s], .tags = {}, .labels = {}, .begins = {}, .ends = {}, .parents = {}};
  const auto first = to_size(words.offsets[s]);
  if (!tags.empty()) sentence.tags = tags.subspan(first, sentence.words.size());
  if (!trees.offsets.empty()) {
    const auto begin = to_size(trees.offsets[s]), n = to_size(trees.offsets[s + 1]) - begin;
    sentence.labels = trees.labels.subspan(begin, n);
    sentence.begins = trees.begins.subspan(begin, n);
    sentence.ends = trees.ends.subspan(begin, n);
    sentence.parents = trees.parents.subspan(begin, n);
  }
  return sentence;
}

void BlockText::check() const {
  const std::size_t n_tokens = words.tokens.size();
  if (words.offsets.empty() || words.offsets.back() != static_cast<std::int64_t>(n_tokens))
    throw Error("the offsets of a text do not match its words");
  if (!tags.empty() && tags.size() != n_tokens) throw Error("there must be a tag for each word");
  if (trees.offsets.empty()) return;
  const std::size_t n_nodes = trees.labels.size();
  if (trees.offsets.size() != words.offsets.size() || trees.offsets.back() != static_cast<std::int64_t>(n_nodes) ||
      trees.begins.size() != n_nodes || trees.ends.size() != n_nodes || trees.parents.size() != n_nodes)
    throw Error("there must be a tree, or none, for each sentence");
  for (std::size_t s = 0; s < size(); ++s) {
    const auto sentence = (*this)[s];
    for (std::size_t k = 0; k < sentence.labels.size(); ++k)
      if (sentence.ends[k] > sentence.words.size() || sentence.parents[k] >= static_cast<std::int32_t>(k))
        throw Error("a tree does not match its sentence");
  }
}

void ask_fixed(const BlockSentence& sentence, SourceSpan span, std::uint32_t source, FamilySet families,
               std::vector<Question>& questions) {
  const auto at = [&](std::span<const std::uint32_t> values, int i) {
    return i < 0 || i >= sentence.size() ? kSentenceEdge : values[to_size(i)];
  };
  if (source != kNone32) {
    if (has(families, BlockFamily::Lexical)) questions.push_back({Ask::Source, source, 0, 0});
    if (has(families, BlockFamily::Context)) {
      questions.push_back({Ask::PreviousSource, source, at(sentence.words, span.begin - 1), 0});
      questions.push_back({Ask::NextSource, source, at(sentence.words, span.end), 0});
    }
  }
  if (!sentence.tags.empty() && has(families, BlockFamily::Tags)) {
    const auto tag = sentence.tag(span);
    questions.push_back({Ask::Tag, tag, 0, 0});
    questions.push_back({Ask::PreviousTag, tag, at(sentence.tags, span.begin - 1), 0});
    questions.push_back({Ask::NextTag, tag, at(sentence.tags, span.end), 0});
  }
}

void ask_moving(const BlockSentence& sentence, SourceSpan span, const Neighbourhood& around, std::uint32_t source,
                const History& history, FamilySet families, std::vector<Question>& questions) {
  const bool known = source != kNone32;
  if (known && has(families, BlockFamily::Context)) {
    questions.push_back({Ask::PreviousTarget, source, history.last, 0});
    questions.push_back({Ask::PreviousTargets, source, history.last, history.second_last});
  }
  if (known && has(families, BlockFamily::Coverage)) {
    if (span.begin > 0 && !history.covered[span.begin - 1]) questions.push_back({Ask::LeftOpen, source, 0, 0});
    if (span.end < sentence.size() && history.covered[span.end]) questions.push_back({Ask::RightClosed, source, 0, 0});
  }
  if (!around.any) return;
  if (known && has(families, BlockFamily::ParseCoverage))
    questions.push_back({Ask::ParseCoverage, source, around.parent_label,
                         static_cast<std::uint32_t>(node_coverage(history.covered, around.parent))});
  const auto first = questions.size();
  const auto add = [&](const Question& question) {
    if (std::find(questions.begin() + static_cast<std::ptrdiff_t>(first), questions.end(), question) == questions.end())
      questions.push_back(question);
  };
  if (known && has(families, BlockFamily::AncestorCoverage))
    for (const auto& ancestor : around.ancestors)
      add({Ask::AncestorCoverage, source, ancestor.label,
           static_cast<std::uint32_t>(node_coverage(history.covered, ancestor.span))});
  const bool words = known && has(families, BlockFamily::SiblingWord);
  const bool tags = !sentence.tags.empty() && has(families, BlockFamily::SiblingTag);
  if (!words && !tags) return;
  for (const auto& sibling : around.siblings) {
    const auto answer = SiblingAnswer{node_coverage(history.covered, sibling.span), sibling.right}.pack();
    if (words) add({Ask::SiblingWord, source, sibling.label, answer});
    if (tags) add({Ask::SiblingTag, sentence.tag(span), sibling.label, answer});
  }
}

}  // namespace hyperbaton
