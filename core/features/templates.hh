// Feature templates: which words around and inside a phrase pair form a feature.
//
// A feature is a name and up to kMaxWords word numbers; its key is a hash of both. Templates with the same name share
// their features. The words of a layer are those of a text or other labels of its tokens (word classes).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "align/links.hh"
#include "base/hash.hh"
#include "base/size.hh"
#include "phrases/inventory.hh"

namespace hyperbaton {

// The region of a template's n-gram, which must lie inside it. Positions are relative to the first word of the phrase for
// Before and Inside (offset 0), and to its last word for After (offset 1 is the word after the phrase). Links makes a
// feature of each link inside the phrase pair: the words of `layer` and `linked_layer` that it joins. NumberBefore,
// NumberInside and NumberAfter make a feature of the number of words, capped at `length`.
enum class Region : std::int32_t { Before, Inside, After, Links, NumberBefore, NumberInside, NumberAfter };

struct Template {
  std::int32_t name;
  std::int32_t layer;
  Region region;
  std::int32_t offset;
  std::int32_t length;
  std::int32_t linked_layer;
};

inline constexpr std::size_t kMaxWords = 4;

struct Layer {
  TokensView text;
  bool of_target;
};

// Phrase pairs in context. The two sides have separate sentence numbers; links are indexed by the target's.
struct Occurrences {
  std::vector<Layer> layers;
  SpansView source, target;
  LinksView links;  // empty: none are known

  std::size_t size() const { return source.size(); }
  // Throws Error unless spans, layers and links match.
  void check() const;
};

// Throws Error unless every template can be used with these layers.
void check_templates(std::span<const Template> templates, const Occurrences& where);

// Whether two templates, or two links, can give the same feature in one occurrence.
bool may_repeat(std::span<const Template> templates);

inline std::uint64_t feature_key(std::int32_t name, std::span<const WordId> words) {
  std::uint64_t key = mix(static_cast<std::uint64_t>(name) + 1);
  for (const WordId word : words) key = combine(key, word);
  return key;
}

// Call on_feature(key, name, words) for each feature of occurrence i; a feature can be repeated if may_repeat is true.
template <class OnFeature>
void for_each_feature(std::span<const Template> templates, const Occurrences& where, std::size_t i,
                      const OnFeature& on_feature) {
  for (const Template& t : templates) {
    const Layer& layer = where.layers[to_size(t.layer)];
    const SpansView& spans = layer.of_target ? where.target : where.source;
    const auto words = layer.text[spans.sentence[i]];
    const int begin = spans.begin[i], end = begin + spans.length[i];
    if (t.region == Region::Links) {
      const Layer& other = where.layers[to_size(t.linked_layer)];
      const auto linked = other.text[where.target.sentence[i]];
      const int target_begin = where.target.begin[i], target_end = target_begin + where.target.length[i];
      const auto points = where.links[where.target.sentence[i]];
      auto point = std::lower_bound(points.begin(), points.end(), begin, [](const Link& a, int b) { return a.source < b; });
      for (; point != points.end() && point->source < end; ++point) {
        if (point->target < target_begin || point->target >= target_end) continue;
        const std::array<WordId, 2> pair{words[point->source], linked[point->target]};
        on_feature(feature_key(t.name, pair), t.name, std::span<const WordId>(pair));
      }
      continue;
    }
    if (t.region >= Region::NumberBefore) {
      const int n = t.region == Region::NumberBefore   ? begin
                    : t.region == Region::NumberInside ? end - begin
                                                       : static_cast<int>(words.size()) - end;
      const std::array<WordId, 1> number{static_cast<WordId>(std::min(n, t.length))};
      on_feature(feature_key(t.name, number), t.name, std::span<const WordId>(number));
      continue;
    }
    const int from = t.region == Region::After ? end - 1 + t.offset : begin + t.offset, to = from + t.length;
    const int low = t.region == Region::Before ? 0 : t.region == Region::Inside ? begin : end;
    const int high = t.region == Region::Before ? begin : t.region == Region::Inside ? end : static_cast<int>(words.size());
    if (from < low || to > high) continue;
    const auto gram = words.subspan(to_size(from), to_size(t.length));
    on_feature(feature_key(t.name, gram), t.name, gram);
  }
}

}  // namespace hyperbaton
