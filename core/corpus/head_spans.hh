// Dependency trees read as constituents: each word with all that depends on it is a node.
#pragma once

#include "corpus/trees.hh"

namespace hyperbaton {

struct DependenciesView {
  std::span<const std::int32_t> heads;  // position in the sentence, -1 for a root
  std::span<const std::uint16_t> relations, tags;
  std::span<const std::int64_t> offsets;
};

// Labels of the nodes: `relation` + a word's relation over the word and its dependents, `tag` + its tag over the word
// alone, and `root` over the sentence.
struct HeadSpanLabels {
  std::uint16_t root, first_relation, first_tag;
};

// A word that hangs across others (a non-projective arc) is moved up to its head's head until it does not.
TreesBuffer head_spans(const DependenciesView& dependencies, const HeadSpanLabels& labels);

}  // namespace hyperbaton
