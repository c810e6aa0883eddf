#include "learn.hh"
#include "learn/relative_frequency.hh"

namespace hyperbaton::bindings {

HYPERBATON_BINDINGS(learn_relative_frequency) {
  using namespace nb::literals;
  m.def(
      "relative_frequency_trainer",
      [](double smoothing, const Array<double>& expected) {
        const auto shares = view(expected);
        return BoundTrainer{
            relative_frequency_trainer({.smoothing = smoothing, .expected = {shares.begin(), shares.end()}})};
      },
      nb::kw_only(), "smoothing"_a, "expected"_a);
}

}  // namespace hyperbaton::bindings
