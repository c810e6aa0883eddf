// Multinomial logistic regression by stochastic exponentiated gradient on the dual, with shrinking: AL14 Algorithm 1.
//
// The dual variables α_i are a distribution over classes for each row; w_k(α) = σ² Σ_i (p̃_ik − α_ik) x_i (eq. 10) is
// kept up to date, so one visit costs one pass over the row's features. A row whose optimality condition (eq. 16) is met
// within ε leaves the active set. When the active set is empty all rows are checked; if one violates the condition, all
// become active again, with ε/2 as the threshold this time, ε/4 after the next check, and so on.
#pragma once

#include "learn/trainer.hh"

namespace hyperbaton {

// Where to continue: after some passes. No weights: at the start.
struct DualEgState {
  std::size_t n_passes;
  std::vector<double> weights;
  std::vector<double> log_alpha;  // (rows, classes)
  double dual;                    // D(α)
  double removed_gap;             // of dropped rows
};

struct DualEgOptions {
  double variance;         // σ²
  double epsilon;          // a row becomes inactive when max ∇ − min ∇ is at most this
  double initial;          // initial mass of the wrong classes, ε of eq. 15; 0: set for each row at its first visit
  bool newton;             // per-class step sizes from the curvature; otherwise 0.5 for all
  std::size_t max_trials;  // halvings of the step size
  std::size_t n_steps;     // updates per visit; 1 as in the paper
  std::size_t max_passes;
  bool recheck;  // check the removed rows before stopping
  // Return as soon as at most half of the rows are active: the caller drops the others and continues with the rest.
  bool drop;
  DualEgState from;
};

// History: "objective" D(α) of eq. 9; "active" rows at the start of a pass; "gap" Σ_i KL(α_i ‖ p_i(w)), which is the
// duality gap: a bound from each row's last visit, exact after a re-check; number of "rechecks" so far. Single value:
// "left", the number of rows active at the end. "alpha" contains the final α, (rows, classes). If rows are to be dropped:
// "kept", the numbers of the others, "log-alpha", theirs, and "removed", the gap of the dropped rows.
Trainer dual_eg_trainer(const DualEgOptions& options);

}  // namespace hyperbaton
