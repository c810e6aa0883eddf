// Support vector machines by dual coordinate descent with shrinking.
//
// One-vs-rest, NI11 §2.2.1: for each class k  min ½‖w_k‖² + C Σ_i max(0, 1 − φ(y_i, k) w_k·x_i); dual 0 ≤ α_i ≤ C
// (Hsieh et al. 2008). Crammer–Singer:  min ½ Σ_k ‖w_k‖² + C Σ_i max_k [Δ(y_i, k) + w_k·x_i] − w_{y_i}·x_i; dual
// Σ_k α_ik = 0, α_ik ≤ C·[k = y_i], w_k = Σ_i α_ik x_i, solved row by row (Keerthi et al. 2008).
#pragma once

#include "learn/losses.hh"
#include "learn/trainer.hh"

namespace hyperbaton {

struct SvmOptions {
  double cost;  // C
  std::size_t max_passes;
  double tolerance;  // largest violation of the optimality conditions
};

// History: "objective" of the dual (to be minimised) by pass, "active" variables or rows at the start of a pass, and a
// single value "gap", the duality gap at the end.
Trainer one_vs_rest_trainer(const SvmOptions& options);
Trainer crammer_singer_trainer(const SvmOptions& options, const ClassMatrix& delta);

}  // namespace hyperbaton
