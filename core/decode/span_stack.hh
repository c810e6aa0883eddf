// The stack of translated source spans that determines hierarchical orientation (Galley and Manning 2008).
//
// A new phrase is compared with the top span; spans that are adjacent in the source are merged. Stacks share their lower
// parts and are identified by numbers: equal stacks have equal numbers.
#pragma once

#include <cstdint>
#include <vector>

#include "decode/u64_map.hh"
#include "phrases/orientation.hh"

namespace hyperbaton {

class SpanStacks {
 public:
  static constexpr std::uint32_t kEmpty = 0;
  struct Shifted {
    Orientation orientation;
    std::uint32_t stack;
  };

  Shifted shift(std::uint32_t stack, SourceSpan span) {
    const auto orientation = stack == kEmpty ? first_step_orientation(span) : step_orientation(node(stack).span, span);
    while (stack != kEmpty) {
      const auto& top = node(stack);
      if (top.span.end == span.begin)
        span.begin = top.span.begin;
      else if (top.span.begin == span.end)
        span.end = top.span.end;
      else
        break;
      stack = top.below;
    }
    return {orientation, push(stack, span)};
  }

 private:
  struct Node {
    SourceSpan span;
    std::uint32_t below;
  };
  const Node& node(std::uint32_t stack) const { return nodes_[stack - 1]; }
  std::uint32_t push(std::uint32_t below, SourceSpan span) {
    const auto key = static_cast<std::uint64_t>(below) << 32 | static_cast<std::uint64_t>(span.begin) << 16 |
                     static_cast<std::uint64_t>(span.end);
    const auto [number, found] = numbers_.find_or_add(key);
    if (!found) {
      nodes_.push_back({span, below});
      *number = static_cast<std::uint32_t>(nodes_.size());
    }
    return *number;
  }

  std::vector<Node> nodes_;
  U64Map numbers_;
};

}  // namespace hyperbaton
