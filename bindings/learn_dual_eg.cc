#include "learn.hh"
#include "learn/dual_eg.hh"

namespace hyperbaton::bindings {

HYPERBATON_BINDINGS(learn_dual_eg) {
  using namespace nb::literals;
  nb::class_<DualEgOptions>(m, "DualEgOptions", "Options of dual_eg.")
      .def(
          "__init__",
          [](DualEgOptions* self, double variance, double epsilon, double initial, bool newton, std::size_t max_trials,
             std::size_t n_steps, std::size_t max_passes, bool recheck) {
            new (self) DualEgOptions{.variance = variance,
                                     .epsilon = epsilon,
                                     .initial = initial,
                                     .newton = newton,
                                     .max_trials = max_trials,
                                     .n_steps = n_steps,
                                     .max_passes = max_passes,
                                     .recheck = recheck,
                                     .drop = false,
                                     .from = {}};
          },
          nb::kw_only(), "variance"_a, "epsilon"_a, "initial"_a, "newton"_a, "max_trials"_a, "n_steps"_a, "max_passes"_a,
          "recheck"_a)
      .def(
          "drop_rows",
          [](DualEgOptions& self, std::size_t n_passes, const Array<double>& weights, const Array<double>& log_alpha,
             double dual, double removed_gap) {
            self.drop = true;
            self.from = {.n_passes = n_passes,
                         .weights = copied(weights),
                         .log_alpha = copied(log_alpha),
                         .dual = dual,
                         .removed_gap = removed_gap};
          },
          nb::kw_only(), "n_passes"_a, "weights"_a, "log_alpha"_a, "dual"_a, "removed_gap"_a,
          "Return when most rows are solved, and start from this state; without weights, at the start.");
  m.def(
      "dual_eg_trainer", [](const DualEgOptions& options) { return BoundTrainer{dual_eg_trainer(options)}; }, "options"_a);
}

}  // namespace hyperbaton::bindings
