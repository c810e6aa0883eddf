// Scores of jumps in derivations: a state has the first and the last source word of a hypothesis in target order.
#pragma once

#include "decode/features/jump.hh"
#include "hierarchical/chart_feature.hh"

namespace hyperbaton {

class ChartJumps {
 public:
  using Input = JumpScorer;
  ChartJumps(std::span<const JumpScorer> scorers, std::size_t sentence, int n_words)
      : scorers_(scorers), sentence_(sentence), n_words_(n_words) {}

  static void check(const std::string& name, const JumpScorer& scorer, const JumpScorer& first,
                    std::span<const std::int64_t> source_offsets);
  std::size_t n_state() const { return 1; }
  void combine(const AppliedRule& rule, std::uint32_t* state, double& score, float* values) const;

 private:
  std::span<const JumpScorer> scorers_;
  std::size_t sentence_;
  int n_words_;
};

}  // namespace hyperbaton
