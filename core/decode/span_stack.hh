// The stack of translated source spans that determines hierarchical orientation (Galley and Manning 2008).
//
// A new phrase is compared with the top span; spans that are adjacent in the source are merged. Stacks share their lower
// parts and are identified by numbers: equal stacks have equal numbers.
//
// The stack of a whole sentence is a single span if and only if the order of the phrases is that of a binary bracketing
// whose parts may be swapped: an inversion transduction grammar (Wu 1997).
#pragma once

#include <cstdint>
#include <vector>

#include "base/u64_map.hh"
#include "phrases/coverage.hh"
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
    const auto below = join(stack, span);
    return {orientation, push(below, span)};
  }

  // Whether the stack can still become a single span after this one. Only uncovered words can join the span, with its
  // neighbours, to the one below, so no covered word may lie between the two. If this held at each step, filling the gaps
  // from the top down joins all.
  bool can_become_one(std::uint32_t stack, SourceSpan span, const Coverage& covered) const {
    const auto below = join(stack, span);
    if (below == kEmpty) return true;
    const auto next = node(below).span;
    return !covered.any(next.end < span.begin ? SourceSpan{next.end, span.begin} : SourceSpan{span.end, next.begin});
  }

 private:
  struct Node {
    SourceSpan span;
    std::uint32_t below;
  };
  const Node& node(std::uint32_t stack) const { return nodes_[stack - 1]; }
  // Extend a span by its neighbours at the top; returns the stack below them.
  std::uint32_t join(std::uint32_t stack, SourceSpan& span) const {
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
    return stack;
  }
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
