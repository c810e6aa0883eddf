#include "decode/block_stack.hh"

#include <algorithm>
#include <map>
#include <random>
#include <vector>

#include "testing/testing.hh"

using namespace hyperbaton;

namespace {

// The same by a list of blocks.
struct PlainStack {
  std::vector<SourceSpan> blocks;
  Orientation shift(SourceSpan span) {
    const auto orientation = blocks.empty() ? first_step_orientation(span) : step_orientation(blocks.back(), span);
    blocks.push_back(span);
    while (blocks.size() > 1) {
      auto& below = blocks[blocks.size() - 2];
      const auto top = blocks.back();
      if (below.end != top.begin && top.end != below.begin) break;
      below = {std::min(below.begin, top.begin), std::max(below.end, top.end)};
      blocks.pop_back();
    }
    return orientation;
  }
};

}  // namespace

TEST("stacks of blocks join neighbours, and equal stacks have equal numbers") {
  std::mt19937 random(2);
  BlockStacks stacks;
  std::map<std::vector<std::pair<int, int>>, std::uint32_t> numbers;
  for (int round = 0; round < 500; ++round) {
    std::vector<SourceSpan> spans;
    for (int at = 0; at < 9;) {
      const int length = 1 + static_cast<int>(random() % 2);
      spans.push_back({at, at + length});
      at += length;
    }
    std::ranges::shuffle(spans, random);
    PlainStack plain;
    auto stack = BlockStacks::kEmpty;
    for (const auto span : spans) {
      const auto expected = plain.shift(span);
      const auto shifted = stacks.shift(stack, span);
      CHECK(shifted.orientation == expected);
      stack = shifted.stack;
      std::vector<std::pair<int, int>> key;
      for (const auto block : plain.blocks) key.emplace_back(block.begin, block.end);
      CHECK(numbers.emplace(key, stack).first->second == stack);
    }
  }
}
