#include "hierarchical/rule_trie.hh"

#include <algorithm>
#include <numeric>

namespace hyperbaton {

RuleTrieArrays build_rule_trie(const PhrasesView& sources, WordId gap) {
  const std::size_t n = sources.size();
  const auto symbol = [&](WordId word) { return word == gap ? RuleTrie::kGapSymbol : word + 1; };
  std::vector<std::uint32_t> sorted(n);
  std::iota(sorted.begin(), sorted.end(), 0U);
  std::ranges::stable_sort(sorted, [&](std::uint32_t a, std::uint32_t b) {
    return std::ranges::lexicographical_compare(sources[a], sources[b], {}, symbol, symbol);
  });

  // Source sides with the prefix of a node are consecutive.
  struct Range {
    std::uint32_t begin, end, depth;
  };
  std::vector<Range> level{{.begin = 0, .end = static_cast<std::uint32_t>(n), .depth = 0}}, next;
  RuleTrieArrays trie;
  trie.symbols.push_back(RuleTrie::kGapSymbol);
  for (; !level.empty(); level.swap(next), next.clear()) {
    for (auto [begin, end, depth] : level) {
      trie.children.push_back(static_cast<std::uint32_t>(trie.symbols.size()));
      trie.ends.push_back(0);
      while (begin < end && sources[sorted[begin]].size() == depth) trie.ends.back() = sorted[begin++] + 1;
      while (begin < end) {
        const auto here = symbol(sources[sorted[begin]][depth]);
        auto last = begin;
        while (last < end && symbol(sources[sorted[last]][depth]) == here) ++last;
        trie.symbols.push_back(here);
        next.push_back({.begin = begin, .end = last, .depth = depth + 1});
        begin = last;
      }
    }
  }
  trie.children.push_back(static_cast<std::uint32_t>(trie.symbols.size()));
  return trie;
}

std::uint32_t RuleTrie::word_child(std::uint32_t node, WordId word) const {
  const auto end = child(node + 1);
  auto first = child(node), last = end;
  const auto wanted = word + 1;
  while (first < last) {
    const auto middle = first + (last - first) / 2;
    if (at(middle) < wanted)
      first = middle + 1;
    else
      last = middle;
  }
  return first < end && at(first) == wanted ? first : kNoNode;
}

}  // namespace hyperbaton
