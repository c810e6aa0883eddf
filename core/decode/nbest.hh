// The n best translations of the recombination graph.
#pragma once

#include "decode/search.hh"

namespace hyperbaton {

struct NBestSettings {
  std::size_t n;
  bool distinct;       // by target words
  std::size_t factor;  // distinct: give up after n times this many translations; 0: never
};

struct Path {
  double score;
  std::vector<std::uint32_t> options;  // of the sentence, in target order
};

std::vector<Path> best_paths(const Search& search, const Space& space, const NBestSettings& settings);

}  // namespace hyperbaton
