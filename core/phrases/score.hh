// What a phrase table says of each pair: its inner links, lexical weights, and counts of its samples' classes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "align/lexical.hh"
#include "base/parallel.hh"
#include "base/slices.hh"
#include "phrases/inventory.hh"
#include "phrases/orientation.hh"

namespace hyperbaton {

// Samples of item k (a phrase pair, or a source phrase): order[offsets[k] .. offsets[k+1]).
struct Groups {
  std::span<const std::int64_t> offsets;
  std::span<const std::uint32_t> order;
  std::size_t size() const { return offsets.size() - 1; }
};

// A link inside a phrase pair, by positions in the phrases.
struct InnerLink {
  std::uint8_t source, target;
};
struct InnerLinks {
  std::vector<std::int64_t> offsets;
  std::vector<InnerLink> points;  // by target, then source, as Moses writes them
};

// The links that each pair has most often. Of equally frequent ones it is the greatest in Moses' order, which compares
// the linked positions word by word of one side: the target's for the direct tables, the source's for the inverse.
enum class TiesBy : std::uint8_t { Target, Source };
InnerLinks most_frequent_links(Groups samples, SpansView source, SpansView target, LinksView links, TiesBy ties,
                               unsigned n_threads, const Progress& progress);

struct PairsView {
  PhrasesView source, target;
  std::span<const std::int64_t> offsets;  // pairs by source phrase
  std::span<const std::uint32_t> targets;
  std::span<const std::int64_t> link_offsets;
  std::span<const InnerLink> links;
  // The target phrases of a source phrase; the first pair is number offsets[phrase].
  std::span<const std::uint32_t> targets_of(std::size_t phrase) const { return slice(targets, offsets, phrase); }
  std::span<const InnerLink> links_of(std::size_t pair) const { return slice(links, link_offsets, pair); }
};

// Lexical weights of all pairs, (lex(source|target), lex(target|source)) each: the product over the words of one side
// of the mean probability given their linked words, or given the empty word (Koehn et al. 2003).
std::vector<double> lexical_weights(const PairsView& pairs, const LexicalTable& lexical, unsigned n_threads);

// counts[k * n_classes + c]: samples of item k that have class c.
std::vector<std::uint32_t> count_classes(Groups samples, std::span<const std::uint8_t> classes, std::size_t n_classes,
                                         unsigned n_threads);

}  // namespace hyperbaton
