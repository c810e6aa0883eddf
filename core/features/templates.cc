#include "features/templates.hh"

#include <set>
#include <utility>

#include "base/size.hh"

namespace hyperbaton {

namespace {

void check_spans(const SpansView& spans, const Layer& layer) {
  const std::size_t n_sentences = layer.text.offsets.size() - 1;
  for (std::size_t i = 0; i < spans.size(); ++i) {
    if (spans.sentence[i] >= n_sentences) throw Error("a phrase pair is in a sentence that the text does not have");
    if (std::size_t{spans.begin[i]} + spans.length[i] > layer.text[spans.sentence[i]].size())
      throw Error("a phrase ends after the end of its sentence");
  }
}

void check_links(const Occurrences& where, const Layer& source, const Layer& target) {
  for (std::size_t i = 0; i < where.size(); ++i) {
    const auto pair = where.target.sentence[i];
    if (pair + 1 >= where.links.offsets.size()) throw Error("a phrase pair has no line of links");
    const std::size_t n = source.text[where.source.sentence[i]].size(), m = target.text[pair].size();
    for (const Link link : where.links[pair])
      if (link.source >= n || link.target >= m) throw Error("a link is out of range for its sentence");
  }
}

}  // namespace

void Occurrences::check() const {
  if (source.size() != target.size()) throw Error("the two sides differ in their number of phrases");
  const Layer* first[2] = {nullptr, nullptr};
  for (const Layer& layer : layers) {
    const auto& offsets = layer.text.offsets;
    if (offsets.empty() || offsets.back() != static_cast<std::int64_t>(layer.text.tokens.size()))
      throw Error("the offsets of a layer do not match its tokens");
    const Layer*& reference = first[layer.of_target];
    if (reference == nullptr) {
      check_spans(layer.of_target ? target : source, layer);
      reference = &layer;
    } else if (!std::equal(offsets.begin(), offsets.end(), reference->text.offsets.begin(),
                           reference->text.offsets.end())) {
      throw Error("the layers of one side differ in their sentences");
    }
  }
  if (!links.offsets.empty() && first[0] != nullptr && first[1] != nullptr) check_links(*this, *first[0], *first[1]);
}

void check_templates(std::span<const Template> templates, const Occurrences& where) {
  const auto is_layer = [&](std::int32_t number, bool of_target) {
    return number >= 0 && to_size(number) < where.layers.size() && where.layers[to_size(number)].of_target == of_target;
  };
  for (const Template& t : templates) {
    if (t.region == Region::Links) {
      if (!is_layer(t.layer, false) || !is_layer(t.linked_layer, true)) throw Error("a link template has a wrong layer");
      if (where.links.offsets.empty()) throw Error("a template needs word links, but none are given");
    } else {
      if (!is_layer(t.layer, false) && !is_layer(t.layer, true)) throw Error("a template has a wrong layer");
      const bool counts = t.region >= Region::NumberBefore;
      if (t.length < 1 || (!counts && to_size(t.length) > kMaxWords)) throw Error("an n-gram is too long");
    }
  }
}

bool may_repeat(std::span<const Template> templates) {
  std::set<std::pair<std::int32_t, std::int32_t>> seen;
  for (const Template& t : templates)
    if (t.region == Region::Links || !seen.insert({t.name, t.length}).second) return true;
  return false;
}

}  // namespace hyperbaton
