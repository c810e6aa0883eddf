// The prior p0(t, j | s): the relative frequency of the block with uniform jumps (Xiang et al. 2011, eq. 4), or with the
// jumps of the pair, smoothed by those of all blocks with the same tag or length (eq. 5-7).
#pragma once

#include <array>
#include <span>

#include "block/table.hh"

namespace hyperbaton {

using JumpRow = std::array<double, kJumps>;

struct BlockPrior {
  bool smoothed;
  double alpha;  // weight of the pair's own jumps
  // p(j) by tag (blocks of one word) and by length, 11 each; without tags the first is empty.
  std::span<const double> by_tag, by_length;

  // An unknown target counts as seen half a time.
  static constexpr double kUnseen = 0.5;

  const double* global(std::uint32_t tag, SourceSpan span) const {
    const auto length = to_size(span.end - span.begin);
    if (length == 1 && (tag + std::size_t{1}) * kJumps <= by_tag.size()) return by_tag.data() + tag * kJumps;
    return by_length.data() + std::min(length * kJumps, by_length.size()) - kJumps;
  }

  static constexpr std::size_t kAllEvents = kJumps;

  // p0 of all jumps; `pair` may be kNone32, `total` is the count of the source phrase. `left_out` is a jump that is not
  // counted among the pair's own jumps: a training step must not occur in its own prior.
  JumpRow row(const BlockTableView& table, std::uint32_t pair, double total, const double* jumps,
              std::size_t left_out = kAllEvents) const {
    JumpRow p;
    const double share = pair == kNone32 ? kUnseen / (total + kUnseen) : table.counts[pair] / total;
    if (!smoothed) {
      p.fill(share / static_cast<double>(kJumps));
    } else if (pair == kNone32) {
      for (std::size_t j = 0; j < kJumps; ++j) p[j] = share * jumps[j];
    } else {
      const double n = table.counts[pair] - (left_out == kAllEvents ? 0.0 : 1.0);
      const double own = n > 0 ? share * alpha / n : 0.0, all = n > 0 ? share * (1 - alpha) : share;
      for (std::size_t j = 0; j < kJumps; ++j)
        p[j] = own * (table.jumps[pair * kJumps + j] - (j == left_out ? 1.0 : 0.0)) + all * jumps[j];
    }
    return p;
  }
};

}  // namespace hyperbaton
