// A learner written in Python, for all rows and for clusters.
#include <memory>

#include "learn.hh"

namespace hyperbaton::bindings {

namespace {

// Rows in the form given to the learner: values scaled, the constant included.
nb::dict to_dict(const Problem& problem) {
  std::vector<std::int64_t> starts{0};
  std::vector<FeatureId> features;
  std::vector<double> values;
  for (std::size_t i = 0; i < problem.rows.size(); ++i) {
    problem.rows[i].visit([&](FeatureId feature, double value) {
      features.push_back(feature);
      values.push_back(value);
    });
    starts.push_back(static_cast<std::int64_t>(features.size()));
  }
  nb::dict dict;
  dict["indptr"] = to_numpy(std::move(starts));
  dict["indices"] = to_numpy(std::move(features));
  dict["values"] = to_numpy(std::move(values));
  dict["labels"] = to_numpy(std::vector<Label>(problem.labels.begin(), problem.labels.end()));
  dict["log_prior"] =
      problem.log_prior.empty()
          ? nb::none()
          : nb::cast(to_numpy(std::vector<double>(problem.log_prior.begin(), problem.log_prior.end()), problem.n_classes));
  dict["n_features"] = problem.rows.width();
  dict["n_classes"] = problem.n_classes;
  dict["seed"] = problem.seed;
  return dict;
}

Fit ask(const nb::callable& function, const Problem& problem) {
  const nb::gil_scoped_acquire gil;
  const auto answer = nb::cast<nb::tuple>(function(**to_dict(problem)));
  const auto weights = nb::cast<Array2<double>>(answer[0]);
  const auto objective = nb::cast<Array<double>>(answer[1]);
  if (weights.shape(0) != problem.rows.width() || weights.shape(1) != problem.n_classes)
    throw Error("a learner in Python must return weights of the shape (n_features, n_classes)");
  if (objective.size() == 0) throw Error("a learner in Python must return its objective by pass");
  return {std::vector<double>(weights.data(), weights.data() + weights.size()),
          {{"objective", std::vector<double>(objective.data(), objective.data() + objective.size())}}};
}

}  // namespace

HYPERBATON_BINDINGS(learn_python) {
  using namespace nb::literals;
  m.def(
      "python_trainer",
      [](const nb::callable& function) {
        // The core copies and drops trainers without the GIL.
        const std::shared_ptr<nb::callable> kept(new nb::callable(function), [](nb::callable* dropped) {
          const nb::gil_scoped_acquire gil;
          delete dropped;
        });
        return BoundTrainer{[kept](const Problem& problem) { return ask(*kept, problem); }};
      },
      "function"_a,
      "A trainer that calls function(indptr=, indices=, values=, labels=, log_prior=, n_features=, n_classes=, seed=), "
      "which "
      "returns weights (n_features, n_classes) and the objective by pass.");
}

}  // namespace hyperbaton::bindings
