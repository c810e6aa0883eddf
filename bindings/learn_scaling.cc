#include "learn.hh"
#include "learn/scaling.hh"

namespace hyperbaton::bindings {

HYPERBATON_BINDINGS(learn_scaling) {
  using namespace nb::literals;
  m.def(
      "gis_trainer",
      [](double variance, std::size_t max_passes, double tolerance) {
        return BoundTrainer{gis_trainer({.variance = variance, .max_passes = max_passes, .tolerance = tolerance})};
      },
      nb::kw_only(), "variance"_a, "max_passes"_a, "tolerance"_a);
  m.def(
      "iis_trainer",
      [](double variance, std::size_t max_passes, double tolerance) {
        return BoundTrainer{iis_trainer({.variance = variance, .max_passes = max_passes, .tolerance = tolerance})};
      },
      nb::kw_only(), "variance"_a, "max_passes"_a, "tolerance"_a);
}

}  // namespace hyperbaton::bindings
