// The class distribution by relative frequency, AL14 eq. 4, with pseudo-counts: p(k) = (n_k + s·K·q_k) / (n + s·K).
#pragma once

#include "learn/trainer.hh"

namespace hyperbaton {

struct RelativeFrequencyOptions {
  double smoothing;              // s, pseudo-count of each class on average
  std::vector<double> expected;  // q, the distribution of the pseudo-counts
};

// Only the constant has a weight, log p(k), so rows must have one; −∞ for a class that never occurs without smoothing.
Trainer relative_frequency_trainer(const RelativeFrequencyOptions& options);

}  // namespace hyperbaton
