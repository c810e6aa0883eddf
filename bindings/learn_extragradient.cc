#include "learn.hh"
#include "learn/extragradient.hh"

namespace hyperbaton::bindings {

HYPERBATON_BINDINGS(learn_extragradient) {
  using namespace nb::literals;
  m.def(
      "extragradient_trainer",
      [](const Array2<double>& delta, double radius, std::size_t max_passes, double tolerance) {
        return BoundTrainer{extragradient_trainer(
            {.delta = class_matrix(delta), .radius = radius, .max_passes = max_passes, .tolerance = tolerance})};
      },
      nb::kw_only(), "delta"_a, "radius"_a, "max_passes"_a, "tolerance"_a);
}

}  // namespace hyperbaton::bindings
