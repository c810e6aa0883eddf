#include "learn.hh"
#include "learn/lbfgs.hh"

namespace hyperbaton::bindings {

HYPERBATON_BINDINGS(learn_lbfgs) {
  using namespace nb::literals;
  m.attr("GAIN_STEPS") = kGainSteps;
  m.def(
      "lbfgs_trainer",
      [](double variance, double l1, std::size_t memory, std::size_t max_passes, double tolerance) {
        return BoundTrainer{lbfgs_trainer(
            {.variance = variance,
             .minimize = {.memory = memory, .max_passes = max_passes, .tolerance = tolerance, .l1 = l1, .gain = 0}})};
      },
      nb::kw_only(), "variance"_a, "l1"_a, "memory"_a, "max_passes"_a, "tolerance"_a);
}

}  // namespace hyperbaton::bindings
