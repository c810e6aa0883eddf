#include "learn.hh"

#include <nanobind/stl/map.h>

#include "learn/clusters.hh"
#include "learn/passes.hh"
#include "learn/visits.hh"

namespace hyperbaton::bindings {

namespace {

using OptionalPrior = std::optional<Array2<double>>;

void check_labels(const Rows& rows, const Array<Label>& labels, std::size_t n_classes) {
  if (labels.size() != rows.size()) throw Error("there must be one label for each row");
  if (rows.size() >= std::size_t{1} << 32) throw Error("at most 2^32 - 1 rows");
  for (const Label label : view(labels))
    if (label < 0 || static_cast<std::size_t>(label) >= n_classes) throw Error("a label is out of range");
}

// Training examples, with their arrays.
struct BoundProblem {
  const Rows& rows;
  Array<Label> labels;
  std::size_t n_classes;
  OptionalPrior log_prior;
  std::uint64_t seed;
  unsigned n_threads;
  std::optional<Words> order;
  std::optional<nb::callable> room;

  Problem problem(const Validation* validation, const Progress& progress) const {
    Problem made{.rows = rows,
                 .labels = view(labels),
                 .n_classes = n_classes,
                 .log_prior = {},
                 .seed = seed,
                 .n_threads = n_threads,
                 .progress = progress,
                 .validation = validation};
    if (log_prior) made.log_prior = view(*log_prior);
    if (order) made.order = view(*order);
    made.room = make_room(room);
    return made;
  }
};

BoundProblem make_problem(const Rows& rows, Array<Label> labels, std::size_t n_classes, OptionalPrior log_prior,
                          std::uint64_t seed, unsigned n_threads) {
  check_labels(rows, labels, n_classes);
  if (log_prior && (log_prior->shape(0) != rows.size() || log_prior->shape(1) != n_classes))
    throw Error("the prior needs one value for each row and class");
  return {.rows = rows,
          .labels = std::move(labels),
          .n_classes = n_classes,
          .log_prior = std::move(log_prior),
          .seed = seed,
          .n_threads = n_threads,
          .order = {},
          .room = {}};
}

void set_order(BoundProblem& problem, Words order) {
  if (order.size() != problem.rows.size()) throw Error("there must be one place for each row");
  if (problem.rows.n_shards() != 1 || problem.log_prior)
    throw Error("rows in visit order must be one shard, without a prior");
  for (const std::uint32_t id : view(order))
    if (id >= order.size()) throw Error("a row is out of range");
  problem.order = std::move(order);
}

// Validation examples; clusters may be empty.
struct BoundValidation {
  const Rows& rows;
  Array<Label> labels;
  std::optional<Ints> clusters;
};

std::optional<Validation> view_validation(const BoundProblem& problem, const BoundValidation* validation) {
  if (validation == nullptr) return std::nullopt;
  if (validation->rows.width() != problem.rows.width()) throw Error("the validation rows have different features");
  check_labels(validation->rows, validation->labels, problem.n_classes);
  return Validation{validation->rows, view(validation->labels)};
}

void check_clusters(const Rows& rows, const Ints& clusters, std::size_t n_clusters) {
  if (clusters.size() != rows.size()) throw Error("there must be one cluster for each row");
  for (const std::int64_t c : view(clusters))
    if (c >= static_cast<std::int64_t>(n_clusters)) throw Error("a cluster is out of range");
}

nb::dict to_dict(std::map<std::string, std::vector<double>>&& history) {
  nb::dict dict;
  for (auto& [name, values] : history) dict[name.c_str()] = to_numpy(std::move(values));
  return dict;
}

}  // namespace

HYPERBATON_BINDINGS(learn) {
  using namespace nb::literals;

  nb::class_<Rows>(m, "Rows", "Sparse examples in borrowed arrays, in shards.")
      .def(
          "__init__",
          [](Rows* self, std::size_t n_features, bool constant, bool unit_length) {
            new (self) Rows(n_features, {.constant = constant, .unit_length = unit_length});
          },
          nb::kw_only(), "n_features"_a, "constant"_a, "unit_length"_a)
      .def(
          "add",
          // noconvert: a converted copy would be freed while views refer to it.
          [](Rows& self, const Ints& starts, const Array<FeatureId>& indices, const std::optional<Array<double>>& values) {
            if (values && values->size() != indices.size()) throw Error("there must be one value for each index");
            const Shard shard{view(starts), view(indices), values ? values->data() : nullptr};
            const nb::gil_scoped_release release;
            self.add(shard);
          },
          "starts"_a.noconvert(), "indices"_a.noconvert(), "values"_a.noconvert().none(), nb::keep_alive<1, 2>(),
          nb::keep_alive<1, 3>(), nb::keep_alive<1, 4>(), "Check and add a shard.")
      .def("__len__", &Rows::size)
      .def_prop_ro("n_features", &Rows::n_features)
      .def_prop_ro("width", &Rows::width);

  nb::class_<BoundTrainer>(m, "Trainer", "A learner with its options, ready for fitting.");

  nb::class_<BoundProblem>(m, "Problem", "Training rows with their labels.")
      .def(
          "__init__",
          [](BoundProblem* self, const Rows& rows, Array<Label> labels, std::size_t n_classes, OptionalPrior log_prior,
             std::uint64_t seed, unsigned n_threads) {
            new (self)
                BoundProblem(make_problem(rows, std::move(labels), n_classes, std::move(log_prior), seed, n_threads));
          },
          nb::kw_only(), "rows"_a, "labels"_a, "n_classes"_a, "log_prior"_a.none(), "seed"_a, "n_threads"_a,
          nb::keep_alive<1, 2>())
      .def("set_order", &set_order, "order"_a, "Declare that the rows are in the order of `visit_order`.")
      .def(
          "set_room", [](BoundProblem& self, nb::callable room) { self.room = std::move(room); }, "room"_a,
          "Where large arrays are allocated: a function from a number of bytes to an array of bytes.");
  nb::class_<BoundValidation>(m, "Validation", "Validation rows with their labels and, if there are any, clusters.")
      .def(
          "__init__",
          [](BoundValidation* self, const Rows& rows, Array<Label> labels, std::optional<Ints> clusters) {
            new (self) BoundValidation{.rows = rows, .labels = std::move(labels), .clusters = std::move(clusters)};
          },
          nb::kw_only(), "rows"_a, "labels"_a, "clusters"_a.none(), nb::keep_alive<1, 2>());

  m.def(
      "fit",
      [](const BoundTrainer& trainer, const BoundProblem& bound, const BoundValidation* validation,
         const Progress& progress) {
        const auto judges = view_validation(bound, validation);
        const Problem problem = bound.problem(judges ? &*judges : nullptr, progress);
        auto fit = without_gil([&] { return train(trainer.train, problem); });
        return nb::make_tuple(to_numpy(std::move(fit.weights), bound.n_classes), to_dict(std::move(fit.history)));
      },
      "trainer"_a, "problem"_a, "validation"_a.none(), "progress"_a.none(),
      "Weights of shape (width, classes), and the history by pass.");

  m.def(
      "group_rows",
      [](const Array<std::int32_t>& clusters, std::size_t n_clusters, const std::optional<nb::callable>& room) {
        if (clusters.size() >= std::size_t{1} << 32) throw Error("at most 2^32 - 1 rows");
        for (const std::int64_t c : view(clusters))
          if (c >= static_cast<std::int64_t>(n_clusters)) throw Error("a cluster is out of range");
        RowGroups groups = group_rows(view(clusters), n_clusters, make_room(room));
        return arrays(std::move(groups.starts), std::move(groups.rows));
      },
      "clusters"_a, "n_clusters"_a, "room"_a.none(), "Offsets of clusters, and the rows of each in their original order.");

  m.def(
      "visit_order", [](std::uint64_t seed, OutArray<std::uint32_t> order) { visit_order(seed, view(order)); }, "seed"_a,
      "order"_a.noconvert(), "Fill in the order in which learners visit the rows of one shard.");

  m.def(
      "fit_clusters",
      [](const BoundTrainer& trainer, const BoundProblem& bound, const Ints& clusters, std::size_t n_clusters,
         std::size_t first_cluster, bool merge_features, const BoundValidation* validation, const Progress& progress) {
        check_clusters(bound.rows, clusters, n_clusters);
        const auto judges = view_validation(bound, validation);
        std::span<const std::int64_t> judge_clusters;
        if (judges && validation->clusters) {
          check_clusters(validation->rows, *validation->clusters, n_clusters);
          judge_clusters = view(*validation->clusters);
        }
        const Problem problem = bound.problem(judges && validation->clusters ? &*judges : nullptr, progress);
        auto all = without_gil([&] {
          return fit_clusters(trainer.train, problem, view(clusters), n_clusters, first_cluster, merge_features,
                              judge_clusters);
        });
        return nb::make_tuple(to_numpy(std::move(all.offsets)), to_numpy(std::move(all.features)),
                              to_numpy(std::move(all.weights), bound.n_classes), to_numpy(std::move(all.objective)));
      },
      "trainer"_a, "problem"_a, "clusters"_a, "n_clusters"_a, "first_cluster"_a, "merge_features"_a, "validation"_a.none(),
      "progress"_a.none(), "Offsets, feature ids, weights and last objective of every cluster.");

  m.def(
      "score_rows",
      [](const Rows& rows, const Array2<double>& weights, unsigned n_threads, const Progress& progress) {
        if (weights.shape(0) != rows.width()) throw Error("the weights do not match the number of features");
        return to_numpy(without_gil([&] { return score_rows(rows, view(weights), weights.shape(1), n_threads, progress); }),
                        weights.shape(1));
      },
      "rows"_a, "weights"_a, nb::kw_only(), "n_threads"_a, "progress"_a.none(), "Scores (rows, classes).");

  m.def(
      "score_clusters",
      [](const Rows& rows, const Ints& clusters, const Ints& offsets, const Array<FeatureId>& features,
         const Array2<float>& weights, unsigned n_threads, const Progress& progress) {
        if (offsets.size() == 0 || offsets.data()[offsets.size() - 1] != static_cast<std::int64_t>(features.size()) ||
            weights.shape(0) != features.size())
          throw Error("the arrays of the clusters do not match");
        check_clusters(rows, clusters, offsets.size() - 1);
        const ClusterView model{view(offsets), view(features), view(weights)};
        return to_numpy(
            without_gil([&] { return score_clusters(rows, view(clusters), model, weights.shape(1), n_threads, progress); }),
            weights.shape(1));
      },
      "rows"_a, "clusters"_a, "offsets"_a, "features"_a, "weights"_a, nb::kw_only(), "n_threads"_a, "progress"_a.none(),
      "Scores (rows, classes) by each row's cluster.");

  m.def(
      "linear_loss",
      [](const std::string& name, const Rows& rows, const Array<Label>& labels, const Array2<double>& weights,
         const Array2<double>& matrix, const OptionalPrior& prior, unsigned n_threads) {
        const std::size_t n_classes = weights.shape(1);
        if (weights.shape(0) != rows.width()) throw Error("the weights do not match the number of features");
        const auto bound = make_problem(rows, labels, n_classes, prior, 0, n_threads);
        const Problem problem = bound.problem(nullptr, {});
        const RowLoss loss = name == "logistic"     ? logistic_loss(problem)
                             : name == "margin"     ? margin_loss(problem, class_matrix(matrix))
                             : name == "hinge"      ? hinge_loss(problem)
                             : name == "true-class" ? true_class_loss(problem)
                                                    : throw Error("there is no loss " + name);
        std::vector<double> gradient(weights.size());
        const auto total =
            without_gil([&] { return loss_and_gradient(rows, {n_classes, 0}, weights.data(), loss, gradient, n_threads); });
        return nb::make_tuple(total, to_numpy(std::move(gradient), n_classes));
      },
      "name"_a, "rows"_a, "labels"_a, "weights"_a, nb::kw_only(), "matrix"_a, "log_prior"_a.none(), "n_threads"_a,
      "Sum of a loss over the rows, and its gradient by the weights.");
}

}  // namespace hyperbaton::bindings
