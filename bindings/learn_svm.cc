#include "learn.hh"
#include "learn/svm.hh"

namespace hyperbaton::bindings {

HYPERBATON_BINDINGS(learn_svm) {
  using namespace nb::literals;
  m.def(
      "one_vs_rest_trainer",
      [](double cost, std::size_t max_passes, double tolerance) {
        return BoundTrainer{one_vs_rest_trainer({.cost = cost, .max_passes = max_passes, .tolerance = tolerance})};
      },
      nb::kw_only(), "cost"_a, "max_passes"_a, "tolerance"_a);
  m.def(
      "crammer_singer_trainer",
      [](const Array2<double>& delta, double cost, std::size_t max_passes, double tolerance) {
        return BoundTrainer{
            crammer_singer_trainer({.cost = cost, .max_passes = max_passes, .tolerance = tolerance}, class_matrix(delta))};
      },
      nb::kw_only(), "delta"_a, "cost"_a, "max_passes"_a, "tolerance"_a);
}

}  // namespace hyperbaton::bindings
