// The training objective of the block model: -Σ log p(t, j | s) over the steps of all training paths, and its gradient.
//
//   p(t, j | s) = p0(t, j | s) exp(Σ λ φ(t, j, s)) / Z                              (Xiang et al. 2011, eq. 3)
//
// Z runs over the 11 jumps and the most frequent targets of s, plus the step's own target if it is not among them. A
// smoothed prior leaves the step's own jump out of the jumps of its pair; otherwise it would know the answer and features
// would learn nothing. Steps are split into blocks whose number depends only on the data; their sums are added in order.
#pragma once

#include "block/prior.hh"
#include "block/question_index.hh"

namespace hyperbaton {

struct BlockObjectiveOptions {
  std::size_t max_targets;  // 0: no limit
  unsigned n_threads;
};

class BlockObjective {
 public:
  BlockObjective(const BlockBitext& bitext, const BlockLookup& lookup, const BlockPrior& prior, FamilySet families,
                 const BlockFeaturesView& features, const BlockObjectiveOptions& options, const Progress& progress);

  std::size_t n_parameters() const { return index_.cells().size(); }
  std::size_t n_steps() const { return n_steps_; }
  unsigned n_threads() const { return options_.n_threads; }
  // How often each feature occurs on the paths.
  std::span<const double> observed() const { return observed_; }

  double operator()(std::span<const double> weights, std::span<double> gradient, const Progress& progress) const;
  // The largest number of features of any (t, j) of any step.
  std::size_t most_features() const;
  // sums[p · (most + 1) + m]: Σ p(t, j | s) over all (t, j) where feature p is one of m. Returns -Σ log p.
  double expectations(std::span<const double> weights, std::size_t most, std::span<double> sums,
                      const Progress& progress) const;
  // An estimate of the Hessian's diagonal.
  std::vector<double> curvature(const Progress& progress) const;

 private:
  // The candidates of a step are the first targets of its source phrase, plus its own target if it is not among them.
  struct Step {
    std::uint32_t source;
    std::uint32_t truth;      // index of its target among those of the source phrase
    std::uint64_t questions;  // where they begin, those about words first
    std::uint16_t n_words, n_tags;
    std::uint8_t jump;
    const double* jumps;  // p(j) of all blocks with this tag or length
  };
  // Steps are sorted by source phrase, so that steps with the same terms are adjacent.
  struct Part {
    std::size_t begin, end;  // sentences
    std::vector<Step> steps;
    std::vector<std::uint32_t> questions;

    std::span<const std::uint32_t> words(const Step& step) const {
      return std::span(questions).subspan(step.questions, step.n_words);
    }
    std::span<const std::uint32_t> tags(const Step& step) const {
      return std::span(questions).subspan(step.questions + step.n_words, step.n_tags);
    }
  };
  class Scores;

  void fill(Part& part, const BlockBitext& bitext, FamilySet families) const;
  // Call use(scores) after each step and return the sum of all -log p.
  template <class Use>
  double pass(const Part& part, std::span<const double> weights, const Use& use) const;
  Parts parts() const { return {parts_.size(), parts_.size(), options_.n_threads}; }
  // Map features to the order of terms, and back.
  std::vector<double> by_term(std::span<const double> by_feature) const;
  void by_feature(std::span<const double> by_term, std::span<double> features) const;

  const BlockLookup& lookup_;
  const BlockPrior prior_;
  const BlockObjectiveOptions options_;
  const QuestionIndex index_;
  // Tags of targets: the groups of source phrase p are tags_[tag_starts_[p] .. tag_starts_[p + 1]), increasing.
  std::vector<std::uint32_t> tags_;  // rows of tags
  std::vector<std::size_t> tag_starts_;
  std::vector<std::uint32_t> group_of_;  // of pairs that are candidates
  std::vector<Part> parts_;
  std::vector<double> observed_;
  std::size_t n_steps_ = 0;
};

}  // namespace hyperbaton
