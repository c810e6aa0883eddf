// The source sides of a rule table as a trie: a node for each prefix of a source side, a child for each next symbol.
//
// Nodes are numbered level by level, so the children of a node are consecutive, sorted by symbol. The trie consists of
// three columns that can be mapped from a file; numbers from it are checked on use.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/slices.hh"
#include "phrases/phrase_index.hh"

namespace hyperbaton {

struct RuleTrieArrays {
  std::vector<std::uint32_t> symbols;   // of each node: 0 is a gap, w + 1 is word w; the root has none
  std::vector<std::uint32_t> children;  // children of node k: [children[k], children[k + 1])
  std::vector<std::uint32_t> ends;      // 1 + the number of the source side that ends in each node, or 0
};

// `gap` is the word that marks a gap.
RuleTrieArrays build_rule_trie(const PhrasesView& sources, WordId gap);

class RuleTrie {
 public:
  static constexpr std::uint32_t kRoot = 0, kNoNode = 0;  // the root is not a child of any node
  static constexpr std::uint32_t kGapSymbol = 0;

  RuleTrie(const NumbersView& symbols, const NumbersView& children, const NumbersView& ends)
      : symbols_(symbols), children_(children), ends_(ends) {
    if (symbols.size() == 0 || children.size() != symbols.size() + 1 || ends.size() != symbols.size())
      throw_damaged("the arrays of the rule index do not match");
  }

  // The source side that ends in a node, or kNoPhrase.
  std::uint32_t phrase(std::uint32_t node) const { return static_cast<std::uint32_t>(ends_[node]) - 1; }
  bool has_children(std::uint32_t node) const { return child(node) < child(node + 1); }
  // The child for a gap or a word, or kNoNode.
  std::uint32_t gap_child(std::uint32_t node) const {
    const auto first = child(node);
    return first < child(node + 1) && at(first) == kGapSymbol ? first : kNoNode;
  }
  std::uint32_t word_child(std::uint32_t node, WordId word) const;

 private:
  std::uint32_t child(std::size_t node) const { return static_cast<std::uint32_t>(children_[node]); }
  std::uint32_t at(std::uint32_t node) const {
    if (node == kRoot || node >= symbols_.size()) [[unlikely]]
      throw_damaged("the rule index has a child that is not a node");
    return static_cast<std::uint32_t>(symbols_[node]);
  }

  NumbersView symbols_, children_, ends_;
};

}  // namespace hyperbaton
