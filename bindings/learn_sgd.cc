#include "learn.hh"
#include "learn/sgd.hh"

namespace hyperbaton::bindings {

HYPERBATON_BINDINGS(learn_sgd) {
  using namespace nb::literals;
  m.def(
      "sgd_trainer",
      [](double variance, double step, bool decreasing, std::size_t max_passes, double tolerance) {
        return BoundTrainer{sgd_trainer({.variance = variance,
                                         .step = step,
                                         .decreasing = decreasing,
                                         .max_passes = max_passes,
                                         .tolerance = tolerance})};
      },
      nb::kw_only(), "variance"_a, "step"_a, "decreasing"_a, "max_passes"_a, "tolerance"_a);
}

}  // namespace hyperbaton::bindings
