// Word classes by the exchange algorithm (Kneser & Ney 1993), on the criterion that mkcls maximises (Och 1999).
//
// With N(g, h) the number of class bigrams and N(g) that of class unigrams, the criterion is
//   F = sum over g, h of N(g, h) log N(g, h)  -  2 * sum over g of N(g) log N(g),
// the part of the log-likelihood of a class bigram model that depends on the classes. Each sentence has a boundary before
// its first and after its last word; the boundary is a separate class, which no word enters or leaves.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/parallel.hh"
#include "corpus/text.hh"

namespace hyperbaton {

// Class numbers as in mkcls. The boundary class also marks words without a class.
using ClassId = std::uint16_t;
inline constexpr ClassId kBoundaryClass = 0;
inline constexpr ClassId kFirstClass = 2;  // mkcls reserves 1 for words that it leaves out

// Bigram counts of words. The boundary has the number after the last word; empty sentences are ignored.
class WordBigrams {
 public:
  struct Neighbour {
    WordId word;
    std::uint32_t count;
  };

  WordBigrams(TokensView text, std::size_t n_words, unsigned n_threads);

  std::size_t n_words() const { return n_words_; }  // without the boundary
  std::int64_t count(WordId word) const { return counts_[word]; }
  std::span<const Neighbour> after(WordId word) const { return after_.of(word); }
  std::span<const Neighbour> before(WordId word) const { return before_.of(word); }

 private:
  struct Rows {
    std::vector<Neighbour> neighbours;
    std::vector<std::int64_t> offsets;
    std::span<const Neighbour> of(WordId word) const { return valid_slice(neighbours, offsets, word); }
  };

  std::size_t n_words_;
  std::vector<std::int64_t> counts_;
  Rows after_, before_;  // each row sorted by word
};

struct ExchangeOptions {
  std::size_t n_classes;
  std::size_t max_sweeps;
  std::size_t batch_size;  // words whose moves are chosen against the same state; part of the result
  unsigned n_threads;      // not part of the result
};

struct Classes {
  std::vector<ClassId> of_word;   // kBoundaryClass for words that do not occur
  std::vector<double> criterion;  // before the first sweep and after each one
};

// Improve `initial` by moving one word at a time to the class with the largest gain, frequent words first, until no
// single move gains. `initial` contains kFirstClass ... kFirstClass + n_classes - 1 for each word.
//
// Moves are chosen for a batch of words in parallel against the state at its start, then applied one by one, each only if
// it still gains in the current exact state: the criterion never decreases, and the result does not depend on threads.
// Final classes are numbered by decreasing frequency.
Classes exchange(const WordBigrams& bigrams, std::span<const ClassId> initial, const ExchangeOptions& options,
                 const Progress& progress);

}  // namespace hyperbaton
