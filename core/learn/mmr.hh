// Maximum margin regression, NI11 §2.2.2 and Appendix B, by coordinate descent on the box-constrained dual
//
//   min ½ Σ_nm α_n α_m κ_out(y_n, y_m) κ_in(x_n, x_m) − Σ_n α_n,   0 ≤ α_n ≤ C.
//
// A row's score for class k is Σ_n α_n κ_out(k, y_n) κ_in(x, x_n). With linear inputs that is w_k·x.
#pragma once

#include "learn/losses.hh"
#include "learn/trainer.hh"

namespace hyperbaton {

struct MmrOptions {
  ClassMatrix output_kernel;
  double cost;  // C
  std::size_t max_passes;
  double tolerance;  // largest violation of the optimality conditions
};

enum class KernelShape { polynomial, gaussian };

struct InputKernel {
  KernelShape shape;
  double gamma;  // polynomial (γ x·z + shift)^degree, Gaussian exp(−γ ‖x − z‖²)
  double shift;
  double degree;

  double operator()(double product, double left_norm, double right_norm) const;
};

// History: dual "objective" by pass, "active" rows at the start of a pass, and a single value "gap", the duality gap at
// the end.
Trainer mmr_trainer(const MmrOptions& options);

// With kernel inputs there are no weights; the history contains "alpha", one value for each row. Cached columns of the
// kernel matrix take at most `cache_bytes`.
Trainer kernel_mmr_trainer(const MmrOptions& options, const InputKernel& kernel, std::size_t cache_bytes);

// Σ_n coefficients[n, k] κ_in(x, support_n) for each row x: (rows, n_classes).
std::vector<double> score_kernel(const Rows& rows, const Rows& support, std::span<const double> coefficients,
                                 std::size_t n_classes, const InputKernel& kernel, unsigned n_threads,
                                 const Progress& progress);

}  // namespace hyperbaton
