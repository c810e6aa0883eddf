// The training objective of PAIR and SEQUENCE over a corpus: −Σ log P(NP | CP) over all jumps, or −Σ log P(NP | CP,
// visited), and its gradient.
//
// Sentences are split into chunks whose number and borders depend only on the data. Each chunk sums its loss and gradient
// separately, and the sums are added in the order of the chunks: the result is identical for any number of threads.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "next_position/feature_numbers.hh"
#include "next_position/jump_scores.hh"

namespace hyperbaton {

// The largest number of chunks, and so of gradients in memory at once; one for each thread if there are fewer threads.
inline constexpr std::size_t kMaxJumpChunks = 16;

struct JumpObjectiveOptions {
  std::size_t planes;  // weights of a feature: 1 for PAIR, 3 for SEQUENCE
  bool remaining;      // the candidates are the words that are not visited and EOS, or all positions but the CP
  bool coverage;       // classes of candidates (phrases/remaining.hh) have weights, after those of all keys
  unsigned n_threads;
};

// The precomputed features of all sentences that have jumps, in the caller's memory: plain (`feature_lists`), or packed
// (`packed_feature_lists`), which takes about half the memory and more time.
struct KeptLists {
  std::span<const std::uint8_t> counts;  // features of each list
  std::span<const std::uint32_t> ids;    // the features of all lists of a sentence, one after another
  std::span<const std::uint8_t> packed;  // these instead (packed_ids.hh), if not empty
  std::span<const std::int64_t> starts;  // of each sentence in `ids` or `packed`, and the end
  std::span<const std::int64_t> n_ids;   // features of each sentence
  std::span<const std::uint32_t> order;  // the feature of each number
};

// The lists of the sentences of [begin, end) that have jumps, and the number of features of each sentence in them.
// Features are replaced by their numbers, if there are any.
struct FeatureLists : JumpLists {
  std::vector<std::int64_t> n_ids;
};
FeatureLists feature_lists(const TaggedText& text, const VisitsView& visits, const JumpFeatures& features,
                           FeatureNumbers* numbers, std::size_t begin, std::size_t end, unsigned n_threads,
                           const Progress& progress);

// Packed lists of numbers of features.
struct PackedLists {
  std::vector<std::uint8_t> counts, packed;
  std::vector<std::int64_t> n_bytes, n_ids;  // of each sentence
};
PackedLists packed_feature_lists(const TaggedText& text, const VisitsView& visits, const JumpFeatures& features,
                                 FeatureNumbers& numbers, std::size_t begin, std::size_t end, unsigned n_threads,
                                 const Progress& progress);

class JumpObjective {
 public:
  // An objective that computes the features of all sentences in every pass. Text, visits and keys must outlive it.
  // Sentences without a visit are left out.
  JumpObjective(const TaggedText& text, const VisitsView& visits, std::span<const std::uint64_t> keys,
                const JumpObjectiveOptions& options);
  // An objective over precomputed features, which must outlive it too.
  JumpObjective(const TaggedText& text, const VisitsView& visits, const KeptLists& lists,
                const JumpObjectiveOptions& options);

  std::size_t n_parameters() const { return n_parameters_; }
  std::size_t planes() const { return options_.planes; }
  unsigned n_threads() const { return options_.n_threads; }
  Candidates candidates() const { return {options_.remaining, options_.coverage ? n_features_ : 0}; }
  // The sentences that have jumps.
  std::span<const std::uint32_t> sentences() const { return sentences_; }

  // Returns −Σ log P and overwrites the gradient.
  double operator()(std::span<const double> weights, std::span<double> gradient, const Progress& progress) const;
  // An estimate of the Hessian's diagonal: that of each weight on its own if all jumps are equally likely, times the
  // number of features that move together.
  std::vector<double> curvature(const Progress& progress) const;

  // Precomputed lists may have their own numbers of features (feature_numbers.hh). This is the caller's number of one.
  std::size_t our_feature(std::size_t inner) const { return order_.empty() ? inner : order_[inner]; }

  // The features of a sentence, given by its index in `sentences`; `scratch.next` receives its jumps. The lists are valid
  // until the scratch is reused.
  struct Scratch {
    PositionParts parts;
    JumpLists lists;
    std::vector<int> next;
  };
  SentenceLists lists_of(std::size_t place, Scratch& scratch) const;

 private:
  // Consecutive sentences.
  struct Chunk {
    std::size_t begin, end;  // indices in `sentences`
  };
  template <std::size_t Planes>
  double pass(const Chunk& chunk, std::span<const double> weights, std::span<double> gradient, Poll& poll) const;
  template <std::size_t Planes>
  double add_curvature(const Chunk& chunk, std::span<double> curvature, Poll& poll) const;
  // As many at once as there are threads.
  Parts parts() const { return {chunks_.size(), std::max(options_.n_threads, 1u), options_.n_threads}; }
  void find_sentences();
  void cut_chunks();
  // Values of all weights in the other order; without such lists, nothing changes.
  std::vector<double> in_our_order(std::span<const double> inner) const;
  std::vector<double> in_inner_order(std::span<const double> ours) const;

  TaggedText text_;
  VisitsView visits_;
  JumpFeatures features_;
  JumpObjectiveOptions options_;
  std::size_t n_features_;  // without the classes of candidates
  std::size_t n_parameters_;
  std::vector<std::uint32_t> sentences_;
  std::vector<Chunk> chunks_;
  std::optional<KeptLists> kept_;         // of all sentences, if precomputed
  std::vector<std::size_t> list_starts_;  // of each sentence in them
  std::vector<std::uint32_t> order_;      // external number of each internal feature; empty: they are equal
};

}  // namespace hyperbaton
