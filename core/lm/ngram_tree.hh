// The n-grams of all orders of a text in memory, estimated without sorting n-grams or looking any of them up.
//
// Positions of the text, sorted by the k words that end there, newest word first, are sorted by k + 1 words in one stable
// pass: position t goes after the positions with the same word that precede it in the order of t - 1. So an order costs
// one counting sort; positions with the same words are adjacent, and the n-gram that ends in t - 1 is the context of the
// one that ends in t. All sums over a context follow these links.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "base/parallel.hh"
#include "corpus/text.hh"
#include "lm/counts.hh"
#include "lm/kneser_ney.hh"

namespace hyperbaton {

class NgramTree {
 public:
  // The n-grams of one order by suffix, as in rows of n-grams. Contexts and parents are numbers in the level below: the
  // n-gram without its newest word, and without its oldest one.
  struct Level {
    std::vector<std::uint32_t> context, parent;
    std::vector<std::uint32_t> count;  // adjusted, with kPruned; empty when estimated
    std::vector<float> prob, weight;   // of words, and γ; log10 in the end
    std::size_t size = 0;
  };

  // All words have numbers below n_words; all but <unk> and <s> are in the text. thresholds as for adjust_counts.
  NgramTree(const TokensView& text, std::size_t n_words, std::span<const std::uint64_t> thresholds);

  std::size_t order() const { return thresholds_.size(); }
  // The levels so far, [k - 1] of order k.
  const std::vector<Level>& levels() const { return levels_; }

  // Count the n-grams of the next order. The counts of an order are adjusted when the next one is counted. If `progress`
  // cancels, the tree is no longer usable.
  void add_level(const Progress& progress);
  CountOfCounts count_of_counts(std::size_t order) const;
  // Convert counts into probabilities, order by order; every order must have been counted.
  void estimate(std::size_t order, const Discounts& discounts, unsigned n_threads);
  // Drop pruned n-grams, and convert probabilities and weights to logs.
  void finish(unsigned n_threads);

  // The words of the n-grams of all orders, oldest first, as in NgramColumns.
  std::vector<std::vector<WordId>> words() const;

 private:
  static constexpr std::uint32_t kPruned = 1U << 31;  // in a count
  // Flag in the number of a group: not an n-gram, since <s> comes before its oldest word.
  static constexpr std::uint32_t kPadded = 1U << 31;

  // A position of the text, and its group of positions that end in the same words: the n-gram's number in its level.
  struct Place {
    std::uint32_t position, group;
  };

  void add_words();
  void drop_pruned();

  std::vector<std::uint64_t> thresholds_;
  std::size_t n_words_;
  std::vector<WordId> text_;           // each sentence between <s> and </s>
  std::vector<std::uint32_t> starts_;  // of each word's places
  std::vector<Place> places_, next_places_;
  std::vector<Level> levels_;
};

}  // namespace hyperbaton
