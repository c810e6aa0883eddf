// Perceptron-based structured learning, NI11 Table 2.
//
// A pass visits every row once in random order; a row whose true class does not win by its margin Δ moves the weights
// of the true class towards the row and those of the most violating class away from it.
#pragma once

#include "learn/losses.hh"
#include "learn/trainer.hh"

namespace hyperbaton {

struct PslOptions {
  ClassMatrix delta;
  double step;  // η
  std::size_t max_passes;
  double tolerance;   // stop when the mean loss of a pass changes by less than this fraction
  double validation;  // fraction of rows held out to choose the best pass, unless validation rows are given; 0: none
  std::size_t min_validation;  // least number of held-out rows: with fewer, the best pass is a matter of chance
  std::size_t patience;        // passes without a new best on the held-out rows before stopping
  bool average;                // return the mean of the weights over all visits
};

Trainer psl_trainer(const PslOptions& options);

}  // namespace hyperbaton
