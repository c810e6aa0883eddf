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

// Arrays of any type of numbers, and lists of numbers, as an array of the core.
template <class Wanted>
Wanted numbers(nb::handle answer, const char* refusal) {
  try {
    return nb::cast<Wanted>(nb::module_::import_("numpy").attr("asarray")(answer, "float64", "C"));
  } catch (const nb::cast_error&) {
    throw Error(refusal);
  }
}

Fit ask(const nb::callable& function, const Problem& problem) {
  constexpr auto shape = "a learner in Python must return weights of the shape (n_features, n_classes)";
  constexpr auto passes = "a learner in Python must return its objective by pass: a list or an array of one dimension";
  const nb::gil_scoped_acquire gil;
  const nb::object answer = function(**to_dict(problem));
  if (!nb::isinstance<nb::tuple>(answer) || nb::len(answer) != 2)
    throw Error("a learner in Python must return a tuple of two: weights, and its objective by pass");
  const auto weights = numbers<Array2<double>>(answer[0], shape);
  const auto objective = numbers<Array<double>>(answer[1], passes);
  if (weights.shape(0) != problem.rows.width() || weights.shape(1) != problem.n_classes) throw Error(shape);
  if (objective.size() == 0) throw Error(passes);
  return {copied(weights), {{"objective", copied(objective)}}};
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
      "which returns weights (n_features, n_classes) and the objective by pass.");
}

}  // namespace hyperbaton::bindings
