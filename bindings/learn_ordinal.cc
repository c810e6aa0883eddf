#include "learn.hh"
#include "learn/ordinal.hh"

namespace hyperbaton::bindings {

HYPERBATON_BINDINGS(learn_ordinal) {
  using namespace nb::literals;
  const auto make_options = [](const std::string& loss, double variance, std::size_t memory, std::size_t max_passes,
                               double tolerance) {
    const OrdinalLoss known = loss == "logistic" ? OrdinalLoss::logistic
                              : loss == "margin" ? OrdinalLoss::margin
                                                 : throw Error("there is no ordinal loss " + loss);
    return OrdinalOptions{
        .loss = known,
        .variance = variance,
        .minimize = {.memory = memory, .max_passes = max_passes, .tolerance = tolerance, .l1 = 0, .gain = 0}};
  };
  m.def(
      "ordinal_trainer",
      [=](const std::string& loss, double variance, std::size_t memory, std::size_t max_passes, double tolerance) {
        return BoundTrainer{ordinal_trainer(make_options(loss, variance, memory, max_passes, tolerance))};
      },
      nb::kw_only(), "loss"_a, "variance"_a, "memory"_a, "max_passes"_a, "tolerance"_a);
  m.def(
      "ordinal_objective",
      [=](const Rows& rows, const Array<Label>& labels, const Array<double>& parameters, std::size_t n_classes,
          const std::string& loss, double variance, unsigned n_threads) {
        if (labels.size() != rows.size() || parameters.size() != rows.width() + n_classes - 1)
          throw Error("rows, labels and parameters do not match");
        const Problem problem{.rows = rows,
                              .labels = view(labels),
                              .n_classes = n_classes,
                              .log_prior = {},
                              .seed = 0,
                              .n_threads = n_threads,
                              .progress = {},
                              .validation = nullptr};
        std::vector<double> gradient(parameters.size());
        const double value = ordinal_objective(problem, make_options(loss, variance, 1, 1, 0), view(parameters), gradient);
        return nb::make_tuple(value, to_numpy(std::move(gradient)));
      },
      "rows"_a, "labels"_a, "parameters"_a, nb::kw_only(), "n_classes"_a, "loss"_a, "variance"_a, "n_threads"_a,
      "Objective and gradient at (weights, thresholds).");
}

}  // namespace hyperbaton::bindings
