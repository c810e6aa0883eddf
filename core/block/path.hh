// The path of blocks that word links define: which source words are translated together, in which order.
//
// Source words come in the visit order of the links (by first linked target word, then by position). Neighbours that follow
// each other in it and are linked to exactly the same target words are one block; its target is those words. A source word
// without a link is a block of its own with the empty target, right after the block of the word on its left, or at the
// beginning. The same rule holds for a sentence pair and for a phrase pair with its inner links.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "align/links.hh"
#include "phrases/distance_classes.hh"
#include "phrases/orientation.hh"

namespace hyperbaton {

struct PathStep {
  SourceSpan source;
  std::uint32_t first_target, last_target;  // its target positions are targets[first_target .. last_target)
  int before;                               // target words before it, wherever they come from
};

struct BlockPath {
  std::vector<PathStep> steps;
  std::vector<std::uint16_t> targets;  // positions, increasing within a step

  std::span<const std::uint16_t> targets_of(const PathStep& step) const {
    return std::span(targets).subspan(step.first_target, step.last_target - step.first_target);
  }
};

// Finds paths; keeps its memory from call to call.
class PathFinder {
 public:
  // Links in any order, without repetitions. Without links nothing is visited but words with the empty target.
  const BlockPath& find(std::span<const Link> links, int n_source);

 private:
  void add_empty(int begin, int before);
  std::span<const Link> links_of(int i) const {
    return std::span(links_).subspan(starts_[static_cast<std::size_t>(i)],
                                     starts_[static_cast<std::size_t>(i) + 1] - starts_[static_cast<std::size_t>(i)]);
  }

  int n_source_ = 0;
  std::vector<Link> links_;
  std::vector<std::uint32_t> starts_;
  std::vector<std::uint16_t> order_;
  BlockPath path_;
};

}  // namespace hyperbaton
