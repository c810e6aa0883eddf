// Word alignment by expectation maximisation: IBM model 1, then the hidden Markov model, in both directions at once.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <vector>

#include "align/links.hh"
#include "align/pair_posteriors.hh"

namespace hyperbaton {

struct AlignerOptions {
  int model1_iterations, hmm_iterations;
  float null_probability;  // of a word that comes from nothing
  float smoothing;         // weight of the generated words' frequencies in each word's translations; 0 is plain EM
  float freedom;   // share of its own posteriors in a direction's counts; the rest are products of both; 1 is plain EM
  int max_length;  // sentences longer than this are neither learned from nor aligned
};

// What is believed before the text is seen. Counts are added to those of the text in every iteration and give the first
// probabilities; they need not be of pairs that occur together.
struct AlignerPrior {
  // The listed pairs of source word s are targets[starts[s] .. starts[s+1]).
  std::span<const std::int64_t> starts;  // empty: nothing is believed
  std::span<const WordId> targets;
  std::span<const float> counts;                // 2 for each pair, by Direction
  std::array<std::span<const float>, 2> jumps;  // by Direction, first weights of jumps; empty: all alike
};

struct TrainedAligner {
  AlignmentModel model;
  std::vector<double> logprobs;  // of the corpus before each iteration: kToTarget and kToSource in turn
};

TrainedAligner train_aligner(BitextView bitext, std::size_t n_source_words, std::size_t n_target_words,
                             const AlignerOptions& options, const AlignerPrior& prior, unsigned n_threads,
                             const Progress& progress);

// Training in parts, which other processes may count: a round is `expected_counts` of every part, whose sums go to
// `AlignerTraining::renew`. Counts are whole units, and log-probabilities those of kCountedTogether sentence pairs, so
// parts that start at multiples of that number give the same model as one, to the last bit.
inline constexpr std::size_t kCountedTogether = 128;

// What every part must know of the whole corpus, by Direction.
struct CountScale {
  std::array<std::vector<float>, 2> units_per_count;  // of links, by generated word
  std::array<int, 2> max_states;                      // the longest generating sentence
};

struct ExpectedCounts {
  std::vector<std::int64_t> pairs;                         // the pairs of words that were counted, by number
  std::vector<std::uint32_t> links;                        // 2 for each of them
  std::array<std::vector<std::uint64_t>, 2> nulls, jumps;  // by Direction
  std::vector<double> logprobs;                            // 2 for each kCountedTogether sentence pairs
};

// Pairs of words are numbered by source and then target word, in the order of `sorted_row`. `chained` counts by the hidden
// Markov model, otherwise by model 1.
ExpectedCounts expected_counts(const AlignmentModel& model, BitextView part, const CountScale& scale, float freedom,
                               bool chained, unsigned n_threads);

// The pairs of a source word by target word.
std::vector<const Lexicon::Entry*> sorted_row(const Lexicon& table, WordId source);

class AlignerTraining {
 public:
  // The texts and the arrays of the prior must stay until the last call.
  AlignerTraining(BitextView bitext, std::size_t n_source_words, std::size_t n_target_words, const AlignerOptions& options,
                  const AlignerPrior& prior, unsigned n_threads);
  AlignerTraining(AlignerTraining&&) noexcept;
  ~AlignerTraining();

  const AlignmentModel& model() const;
  const CountScale& scale() const;
  // The next model from counts of the whole corpus, `links` being 2 for every pair of words.
  void renew(std::span<const std::uint32_t> links, const std::array<std::span<const std::uint64_t>, 2>& nulls,
             const std::array<std::span<const std::uint64_t>, 2>& jumps, bool chained);

 private:
  class Trainer;
  std::unique_ptr<Trainer> trainer_;
  friend TrainedAligner train_aligner(BitextView, std::size_t, std::size_t, const AlignerOptions&, const AlignerPrior&,
                                      unsigned, const Progress&);
};

// Points whose posterior reaches `threshold` in either direction, with both posteriors: p(target word j comes from
// source word i) and p(source word i comes from target word j).
struct LinkPosteriors {
  LinksBuffer links;
  std::vector<float> values;
};
LinkPosteriors link_posteriors(const AlignmentModel& model, BitextView bitext, float threshold, unsigned n_threads,
                               const Progress& progress);

// By Direction, the origin of each generated word with the highest mean of both posteriors; none if that is below
// `confidence`.
std::array<LinksBuffer, 2> directed_links(const AlignmentModel& model, BitextView bitext, float confidence,
                                          unsigned n_threads, const Progress& progress);

// How sure the models are: both posteriors of each given link, and of each sentence pair log p(target | source) and
// log p(source | target), not numbers where a sentence is empty or too long. The links must lie inside their pairs.
struct LinkScores {
  std::vector<float> posteriors;  // 2 for each link
  std::vector<double> logprobs;   // 2 for each sentence pair
};
LinkScores score_links(const AlignmentModel& model, BitextView bitext, LinksView links, unsigned n_threads,
                       const Progress& progress);

}  // namespace hyperbaton
