// The path of blocks defined by word links: which source words are translated together, and in which order.
//
// Source words are taken in the visit order of the links (by first linked target word, then by position). Adjacent source
// words that are consecutive in this order and are linked to exactly the same target words form one block; its target is
// those words. An unlinked source word is a separate block with the empty target, right after the block of the word on
// its left, or at the beginning. This rule applies to sentence pairs and to phrase pairs with their inner links.
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
  int before;                               // number of target words before it, linked or not
};

struct BlockPath {
  std::vector<PathStep> steps;
  std::vector<std::uint16_t> targets;  // positions, increasing within a step

  std::span<const std::uint16_t> targets_of(const PathStep& step) const {
    return std::span(targets).subspan(step.first_target, step.last_target - step.first_target);
  }
};

// Finds paths; reuses its memory between calls.
class PathFinder {
 public:
  // Links may be in any order, without duplicates. Without links, only words with the empty target are visited.
  const BlockPath& find(std::span<const Link> links, int n_source);

 private:
  void add_empty(int begin, int before);
  std::span<const Link> links_of(int i) const {
    return std::span(links_).subspan(starts_[to_size(i)], starts_[to_size(i) + 1] - starts_[to_size(i)]);
  }

  int n_source_ = 0;
  std::vector<Link> links_;
  std::vector<std::uint32_t> starts_;
  std::vector<std::uint16_t> order_;
  BlockPath path_;
};

}  // namespace hyperbaton
