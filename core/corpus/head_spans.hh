// Dependency trees converted to constituents: each word with all its descendants is a node.
#pragma once

#include "corpus/trees.hh"

namespace hyperbaton {

struct DependenciesView {
  std::span<const std::int32_t> heads;  // position in the sentence, -1 for a root
  std::span<const std::uint16_t> relations, tags;
  std::span<const std::int64_t> offsets;
};

// Labels of the nodes: 1 + a word's relation over the word and its descendants, `first_tag` + its tag over the word alone,
// and 0 over the sentence.
//
// The end of a non-projective arc is reattached to its head's head until the arc is projective.
TreesBuffer head_spans(const DependenciesView& dependencies, std::uint16_t first_tag);

}  // namespace hyperbaton
