// Lazy extraction of the best derivations from a chart (Huang and Chiang 2005, algorithm 3).
#pragma once

#include <set>
#include <unordered_map>
#include <vector>

#include "hierarchical/search.hh"

namespace hyperbaton {

// The k-th best derivation of a hypothesis: one of its edges, and the rank of the derivation in each gap.
struct Derivation {
  double score;
  std::uint32_t edge;  // 0 is the best one, k the arc k − 1
  std::array<std::uint32_t, kMaxGaps> ranks;
};

class Derivations {
 public:
  explicit Derivations(ChartSearch& chart) : chart_(chart) {}

  // The derivation of a rank, from 0; null if there are fewer.
  const Derivation* get(std::uint32_t hypothesis, std::uint32_t rank);
  ChartEdge edge(std::uint32_t hypothesis, const Derivation& derivation) const {
    const auto& h = chart_[hypothesis];
    return derivation.edge == 0 ? h.best : chart_.arcs(h)[derivation.edge - 1];
  }

 private:
  struct Ranked {
    std::vector<Derivation> found;  // best first
    std::vector<Derivation> queue;
    std::set<std::array<std::uint32_t, 1 + kMaxGaps>> seen;
  };
  void add_successors(std::uint32_t hypothesis, Ranked& ranked, const Derivation& last);

  ChartSearch& chart_;
  std::unordered_map<std::uint32_t, Ranked> ranked_;
};

}  // namespace hyperbaton
