// The training objective of the block model: -Σ log p(t, j | s) over the steps of all training paths, and its gradient.
//
//   p(t, j | s) = p0(t, j | s) exp(Σ λ φ(t, j, s)) / Z                              (Xiang et al. 2011, eq. 3)
//
// Z runs over the 11 jumps and the most frequent targets of s, and the step's own target where it is none of them. Steps
// are cut into blocks whose number depends on the data alone; their sums are added in order.
#pragma once

#include <functional>

#include "block/features.hh"
#include "block/prior.hh"

namespace hyperbaton {

struct BlockObjectiveOptions {
  std::size_t max_targets;  // 0 takes all
  unsigned n_threads;
};

class BlockObjective {
 public:
  BlockObjective(const BlockBitext& bitext, const BlockLookup& lookup, const BlockPrior& prior, FamilySet families,
                 const BlockFeaturesView& features, const BlockObjectiveOptions& options, const Progress& progress);

  std::size_t n_parameters() const { return features_.jumps.size(); }
  std::size_t n_steps() const { return n_steps_; }
  unsigned n_threads() const { return options_.n_threads; }
  // The most features that any (t, j) of any step has.
  std::size_t most_features() const { return most_features_; }
  // How often each feature occurs on the paths.
  std::span<const double> observed() const { return observed_; }

  double operator()(std::span<const double> weights, std::span<double> gradient, const Progress& progress) const;
  // sums[p · (most + 1) + m]: Σ p(t, j | s) over all (t, j) where feature p is one of m. Returns -Σ log p.
  double expectations(std::span<const double> weights, std::span<double> sums, const Progress& progress) const;
  // A guess of the Hessian's diagonal.
  std::vector<double> curvature(const Progress& progress) const;

 private:
  struct Step {
    std::uint32_t first, last;  // candidates of the part
    std::uint32_t truth;        // candidate
    std::uint8_t jump;
    const double* jumps;  // p(j) of all blocks like it
  };
  struct Part {
    std::size_t begin, end;  // sentences
    std::vector<Step> steps;
    std::vector<std::uint32_t> pairs;   // of candidates
    std::vector<double> totals;         // of steps: count of the source phrase
    std::vector<std::uint64_t> starts;  // keys of candidate c: keys[starts[c] .. starts[c + 1])
    std::vector<std::uint32_t> keys;
  };
  class Scores;

  void fill(Part& part, const BlockBitext& bitext, const BlockLookup& lookup, FamilySet families);
  template <class Add>
  double pass(const Part& part, std::span<const double> weights, const Add& add) const;
  double sum_parts(std::span<double> sum, const Progress& progress,
                   const std::function<double(const Part&, std::span<double>)>& work) const;

  const BlockTableView table_;
  const BlockPrior prior_;
  const BlockFeaturesView features_;
  const BlockObjectiveOptions options_;
  std::vector<Part> parts_;
  std::vector<double> observed_;
  std::size_t n_steps_ = 0, most_features_ = 0;
};

}  // namespace hyperbaton
