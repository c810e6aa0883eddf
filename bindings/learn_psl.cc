#include "learn.hh"
#include "learn/psl.hh"

namespace hyperbaton::bindings {

HYPERBATON_BINDINGS(learn_psl) {
  using namespace nb::literals;
  m.def(
      "psl_trainer",
      [](const Array2<double>& delta, double step, std::size_t max_passes, double tolerance, double validation,
         std::size_t min_validation, std::size_t patience, bool average) {
        return BoundTrainer{psl_trainer({.delta = class_matrix(delta),
                                         .step = step,
                                         .max_passes = max_passes,
                                         .tolerance = tolerance,
                                         .validation = validation,
                                         .min_validation = min_validation,
                                         .patience = patience,
                                         .average = average})};
      },
      nb::kw_only(), "delta"_a, "step"_a, "max_passes"_a, "tolerance"_a, "validation"_a, "min_validation"_a, "patience"_a,
      "average"_a);
}

}  // namespace hyperbaton::bindings
