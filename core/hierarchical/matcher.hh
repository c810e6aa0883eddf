// Which source sides match which spans of a sentence: CKY+ (Chappelier and Rajman 1998; Chiang 2007).
//
// The spans that begin at one word are visited from short to long. A partial match is a node of the trie of source sides,
// with the spans of its gaps; it is extended by the next word, or by a gap over any span that has hypotheses.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "hierarchical/grammar.hh"
#include "phrases/orientation.hh"

namespace hyperbaton {

struct RuleMatch {
  std::uint32_t phrase;
  std::uint8_t n_gaps;
  std::array<SourceSpan, kMaxGaps> gaps;
};

class Matcher {
 public:
  Matcher(const RuleTrie& trie, std::span<const WordId> words) : trie_(trie), words_(words) {}

  // Move to the spans that begin at a word.
  void start(int begin) {
    begin_ = begin;
    waiting_.clear();
    reached_ = {Partial{.node = RuleTrie::kRoot, .n_gaps = 0, .end = begin, .gaps = {}}};
  }
  // Matches of the span that ends at `end`, one word longer than the previous one. `has_hypotheses(begin, end)` is called
  // for spans that begin later.
  template <class HasHypotheses, class OnMatch>
  void extend(int end, const HasHypotheses& has_hypotheses, const OnMatch& on_match) {
    next_.clear();
    const auto word = words_[to_size(end - 1)];
    if (word != kUnknownWord)
      for (const auto& partial : reached_)
        if (const auto child = trie_.word_child(partial.node, word)) reach(partial, child, end, on_match);
    // New partial matches are appended: they wait for spans that begin at `end`.
    const std::size_t n = waiting_.size();
    for (std::size_t i = 0; i < n; ++i) {
      const Partial partial = waiting_[i];
      if (partial.end < end && has_hypotheses(partial.end, end)) reach_gap(partial, end, on_match);
    }
    reached_.swap(next_);
  }
  // Declare that the span itself has hypotheses, so that source sides may begin with a gap over it.
  void close(int end) {
    if (const auto child = trie_.gap_child(RuleTrie::kRoot)) {
      Partial partial{.node = child, .n_gaps = 1, .end = end, .gaps = {}};
      partial.gaps[0] = {begin_, end};
      keep(partial, reached_);
    }
  }

 private:
  struct Partial {
    std::uint32_t node;  // for waiting matches, the child for a gap
    std::uint8_t n_gaps;
    int end;
    std::array<SourceSpan, kMaxGaps> gaps;
  };

  template <class OnMatch>
  void reach(Partial partial, std::uint32_t node, int end, const OnMatch& on_match) {
    partial.node = node;
    partial.end = end;
    if (const auto phrase = trie_.phrase(node); phrase != kNoPhrase)
      on_match(RuleMatch{.phrase = phrase, .n_gaps = partial.n_gaps, .gaps = partial.gaps});
    keep(partial, next_);
  }
  template <class OnMatch>
  void reach_gap(Partial partial, int end, const OnMatch& on_match) {
    partial.gaps[partial.n_gaps++] = {partial.end, end};
    reach(partial, partial.node, end, on_match);
  }
  void keep(const Partial& partial, std::vector<Partial>& reached) {
    if (!trie_.has_children(partial.node)) return;
    reached.push_back(partial);
    if (partial.n_gaps == kMaxGaps) return;
    if (const auto child = trie_.gap_child(partial.node)) {
      waiting_.push_back(partial);
      waiting_.back().node = child;
    }
  }

  const RuleTrie& trie_;
  std::span<const WordId> words_;
  int begin_ = 0;
  std::vector<Partial> reached_, next_;  // with words to the end of the last span, and of the next one
  std::vector<Partial> waiting_;         // for a gap
};

}  // namespace hyperbaton
