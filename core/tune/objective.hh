// The objective of tuning: a metric as a function of summed statistics.
#pragma once

#include <functional>
#include <span>

namespace hyperbaton {

// Scores rows of sums, (scores.size(), width); higher is better.
using Objective = std::function<void(std::span<const double> sums, std::size_t width, std::span<double> scores)>;

// BLEU, 0-100. A row is hypothesis length, reference length, matches and totals of each n-gram length; more is ignored.
// With `smooth`, the k-th length without a match has the precision 1 / (2^k total), as in NIST's mteval-v13a; otherwise
// BLEU is 0.
struct BleuOptions {
  std::size_t max_order;
  bool smooth;
};
Objective bleu_objective(const BleuOptions& options);

}  // namespace hyperbaton
