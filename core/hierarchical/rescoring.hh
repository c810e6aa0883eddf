// Rescoring: a chart does not know which words are translated before a rule, but a complete derivation does, read as a
// sequence of phrases in target order. So the features of the other search score it, as they score a path through a
// sentence.
//
// A rule without gaps is a phrase. The target side of any other is cut at its gaps, and each run of words between them,
// from left to right, into phrases with the most source words that are contiguous. A source word belongs to its first
// linked target word, one without links to the word on its left or, at the start of a rule, on its right; next to a gap it
// is a phrase without target words. Target words that are left over belong to the phrase before them.
#pragma once

#include "decode/decode.hh"
#include "hierarchical/decode.hh"

namespace hyperbaton {

// The phrases of the derivations of a sentence.
class SentencePhrases {
 public:
  // Begin a phrase of the next derivation, or give one up.
  void begin(SourceSpan source, std::size_t target, bool is_unknown) { begun_.push_back({source, target, is_unknown}); }
  void clear() { begun_.clear(); }
  // The numbers of these phrases, which end a translation; its links are sorted. The result is valid until the next call.
  std::span<const std::int64_t> numbers(std::span<const WordId> words, std::span<const Link> links);
  // The first source word of each.
  int first_word(std::size_t phrase) const { return begun_[phrase].source.begin; }
  // Sort the phrases by their spans; changes their numbers in translations.
  SentenceBlocks take(std::vector<ChartDecoded>& paths);

 private:
  struct Begun {
    SourceSpan source;
    std::size_t target;
    bool is_unknown;
  };
  std::vector<Begun> begun_;
  std::vector<std::int64_t> numbers_;
  std::vector<std::uint32_t> key_;
  SentenceBlocks all_;
};

// Score all candidates by features of their phrases, and sort them.
void rescore(ChartCandidates& candidates, const DecodeInput& input, unsigned n_threads, const Progress& progress);

}  // namespace hyperbaton
