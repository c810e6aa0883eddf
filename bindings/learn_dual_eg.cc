#include "learn.hh"
#include "learn/dual_eg.hh"

namespace hyperbaton::bindings {

HYPERBATON_BINDINGS(learn_dual_eg) {
  using namespace nb::literals;
  m.def(
      "dual_eg_trainer",
      [](double variance, double epsilon, double initial, bool newton, std::size_t max_trials, std::size_t n_steps,
         std::size_t max_passes, bool recheck, bool drop, std::size_t n_passes, const Array<double>& weights,
         const Array<double>& log_alpha, double dual, double removed_gap) {
        return BoundTrainer{dual_eg_trainer({.variance = variance,
                                             .epsilon = epsilon,
                                             .initial = initial,
                                             .newton = newton,
                                             .max_trials = max_trials,
                                             .n_steps = n_steps,
                                             .max_passes = max_passes,
                                             .recheck = recheck,
                                             .drop = drop,
                                             .from = {.n_passes = n_passes,
                                                      .weights = {weights.data(), weights.data() + weights.size()},
                                                      .log_alpha = {log_alpha.data(), log_alpha.data() + log_alpha.size()},
                                                      .dual = dual,
                                                      .removed_gap = removed_gap}})};
      },
      nb::kw_only(), "variance"_a, "epsilon"_a, "initial"_a, "newton"_a, "max_trials"_a, "n_steps"_a, "max_passes"_a,
      "recheck"_a, "drop"_a, "n_passes"_a, "weights"_a, "log_alpha"_a, "dual"_a, "removed_gap"_a);
}

}  // namespace hyperbaton::bindings
