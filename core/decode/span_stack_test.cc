#include "decode/span_stack.hh"

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <span>
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

// Whether a binary bracketing with swaps, whose parts cover neighbouring words, has this order.
bool is_bracketing(std::span<const SourceSpan> order) {
  if (order.size() == 1) return true;
  const auto covers_neighbours = [](std::span<const SourceSpan> part) {
    int begin = part[0].begin, end = part[0].end, n = 0;
    for (const auto span : part) {
      begin = std::min(begin, span.begin);
      end = std::max(end, span.end);
      n += span.end - span.begin;
    }
    return end - begin == n;
  };
  for (std::size_t k = 1; k < order.size(); ++k) {
    const auto left = order.first(k), right = order.subspan(k);
    if (covers_neighbours(left) && covers_neighbours(right) && is_bracketing(left) && is_bracketing(right)) return true;
  }
  return false;
}

}  // namespace

TEST("a stack can become one span if some completion of the order is a bracketing") {
  constexpr int kSpans = 7;
  std::vector<SourceSpan> order;
  for (int i = 0; i < kSpans; ++i) order.push_back({2 * i, 2 * i + 2});
  const auto by_begin = [](SourceSpan a, SourceSpan b) { return a.begin < b.begin; };
  std::set<std::vector<int>> prefixes;  // of all bracketings
  int n_bracketings = 0;
  do {
    if (!is_bracketing(order)) continue;
    ++n_bracketings;
    std::vector<int> prefix;
    for (const auto span : order) {
      prefix.push_back(span.begin);
      prefixes.insert(prefix);
    }
  } while (std::ranges::next_permutation(order, by_begin).found);
  CHECK(n_bracketings == 1806);  // a large Schröder number
  SpanStacks stacks;
  do {
    auto stack = SpanStacks::kEmpty;
    std::uint32_t covered = 0;
    std::vector<int> prefix;
    for (const auto span : order) {
      prefix.push_back(span.begin);
      const bool possible = stacks.can_become_one(stack, span, Coverage(&covered, 2 * kSpans));
      CHECK(possible == prefixes.contains(prefix));
      if (!possible) break;
      stack = stacks.shift(stack, span).stack;
      Coverage::set(&covered, span);
    }
  } while (std::ranges::next_permutation(order, by_begin).found);
}

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
