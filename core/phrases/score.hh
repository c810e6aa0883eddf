// Scores of phrase pairs: inner links, lexical weights, and counts of the samples' classes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "align/lexical.hh"
#include "base/parallel.hh"
#include "base/slices.hh"
#include "phrases/inventory.hh"
#include "phrases/link_sets.hh"
#include "phrases/orientation.hh"

namespace hyperbaton {

// Samples of item k (a phrase pair, or a source phrase): order[offsets[k] .. offsets[k+1]).
struct Groups {
  std::span<const std::int64_t> offsets;
  std::span<const std::uint32_t> order;
  std::size_t size() const { return offsets.size() - 1; }
};

// The sentence pairs of samples, where their phrases begin, and the links of the text.
struct SamplesInText {
  std::span<const std::uint32_t> sentence;
  std::span<const std::uint16_t> source_begin, target_begin;
  LinksView links;
};

struct InnerLinks {
  std::vector<std::int64_t> offsets;
  std::vector<InnerLink> points;  // by target, then source, as Moses writes them
};

// The side by which links are sorted and ties compared.
enum class OrderBy : std::uint8_t { Target, Source };

// Whether the links of a phrase pair precede other links of the same pair in Moses' order, which compares the linked
// positions word by word on one side. Both must be sorted by that side.
bool links_less(std::span<const InnerLink> a, std::span<const InnerLink> b, OrderBy order);

struct PairsView {
  PhrasesView source, target;
  NumbersView offsets;  // pairs by source phrase
  NumbersView targets;
  LinkSetsView links;
  // The pairs of a source phrase.
  IndexRange pairs_of(std::size_t phrase) const { return range_of(offsets, phrase, targets.size()); }
  // Their target phrases if these are not packed.
  std::span<const std::uint32_t> targets_of(std::size_t phrase) const {
    const auto pairs = pairs_of(phrase);
    const auto plain = targets.plain();
    if (pairs.last > plain.size()) throw Error("packed phrase pairs cannot be read in place");
    return plain.subspan(pairs.first, pairs.size());
  }
  std::span<const InnerLink> links_of(std::size_t pair) const { return links[pair]; }
};

// The product over the words of one side of their mean probability given the linked words, or given the empty word (Koehn
// et al. 2003).
struct LexicalWeights {
  double source_given_target, target_given_source;
};
static_assert(sizeof(LexicalWeights) == 2 * sizeof(double), "weights are stored as pairs of numbers");
std::vector<LexicalWeights> lexical_weights(const PairsView& pairs, const LexicalTable& lexical, unsigned n_threads);

// The most frequent links of each pair, and its lexical weights under them. Ties are broken separately for each weight,
// as in Moses: by the greatest in an order that compares the linked positions word by word, of the target for
// lex(target|source) and the inner links, of the source for lex(source|target). `pairs` needs no links.
struct LexicalScores {
  std::vector<LexicalWeights> weights;
  InnerLinks links;
};
LexicalScores lexical_scores(const PairsView& pairs, Groups samples, const SamplesInText& text, const LexicalTable& lexical,
                             unsigned n_threads, const Progress& progress);

// (c(class) + smoothing) / (n + smoothing · n_classes) of each item, for several classifications of the samples side by
// side: row k has n_classes columns for each of them. block[offsets[k] .. offsets[k+1]) are the classes of its samples.
std::vector<double> class_probabilities(std::span<const std::int64_t> offsets,
                                        std::span<const std::span<const std::uint8_t>> classes, std::size_t n_classes,
                                        double smoothing, unsigned n_threads);

}  // namespace hyperbaton
