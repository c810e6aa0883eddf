// Multinomial logistic regression by stochastic exponentiated gradient on the dual, with shrinking: AL14 Algorithm 1.
//
// The dual variables α_i are a distribution over classes for each row; w_k(α) = σ² Σ_i (p̃_ik − α_ik) x_i (eq. 10) is
// kept up to date, so one visit costs one pass over the row's features. A row whose optimality condition (eq. 16) holds
// within ε leaves the active set. When the active set is empty all rows are looked at again; if one violates the
// condition, all become active and leave at ε/2 this time, at ε/4 after the next look, and so on.
#pragma once

#include "learn/trainer.hh"

namespace hyperbaton {

struct DualEgOptions {
  double variance;         // σ²
  double epsilon;          // a row is left alone when max ∇ − min ∇ is at most this
  double initial;          // mass of the wrong classes at the start, ε of eq. 15; 0: each row's own at its first visit
  bool newton;             // step sizes by class from the curvature; else 0.5 for all
  std::size_t max_trials;  // halvings of the step size
  std::size_t n_steps;     // updates for each visit; 1 is the paper's
  std::size_t max_passes;
  bool recheck;  // look at the removed rows again before stopping
};

// History: "objective" D(α) of eq. 9; "active" rows at the start of a pass; "gap" Σ_i KL(α_i ‖ p_i(w)), which is the
// duality gap: a bound from each row's last visit, exact after a re-check; "rechecks" so far. One value: "left", the rows
// active at the end. "alpha" holds the final α, (rows, classes).
Trainer dual_eg_trainer(const DualEgOptions& options);

}  // namespace hyperbaton
