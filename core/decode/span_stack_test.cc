#include "decode/span_stack.hh"

#include <algorithm>
#include <map>
#include <random>
#include <vector>

#include "testing/testing.hh"

using namespace hyperbaton;

namespace {

// Reference implementation with a list of spans.
struct PlainStack {
  std::vector<SourceSpan> spans;
  Orientation shift(SourceSpan span) {
    const auto orientation = spans.empty() ? first_step_orientation(span) : step_orientation(spans.back(), span);
    spans.push_back(span);
    while (spans.size() > 1) {
      auto& below = spans[spans.size() - 2];
      const auto top = spans.back();
      if (below.end != top.begin && top.end != below.begin) break;
      below = {std::min(below.begin, top.begin), std::max(below.end, top.end)};
      spans.pop_back();
    }
    return orientation;
  }
};

}  // namespace

TEST("stacks of spans join neighbours, and equal stacks have equal numbers") {
  std::mt19937 random(2);
  SpanStacks stacks;
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
    auto stack = SpanStacks::kEmpty;
    for (const auto span : spans) {
      const auto expected = plain.shift(span);
      const auto shifted = stacks.shift(stack, span);
      CHECK(shifted.orientation == expected);
      stack = shifted.stack;
      std::vector<std::pair<int, int>> key;
      for (const auto joined : plain.spans) key.emplace_back(joined.begin, joined.end);
      CHECK(numbers.emplace(key, stack).first->second == stack);
    }
  }
}
