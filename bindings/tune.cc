#include <memory>

#include "module.hh"
#include "tune/line_search.hh"
#include "tune/mert.hh"
#include "tune/mira.hh"
#include "tune/sparse_mira.hh"

namespace hyperbaton::bindings {

namespace {

struct BoundObjective {
  Objective function;
};

// A Python callable (rows of sums) → scores. It may be called from any thread, one at a time.
Objective python_objective(const nb::callable& callable) {
  // The callable has a shared owner that releases it under the GIL, wherever the last copy is destroyed.
  const std::shared_ptr<nb::callable> owned(new nb::callable(callable), [](nb::callable* owner) {
    const nb::gil_scoped_acquire acquire;
    delete owner;
  });
  return [owned](std::span<const double> sums, std::size_t width, std::span<double> scores) {
    const nb::gil_scoped_acquire acquire;
    const nb::object rows = nb::cast(to_numpy(std::vector<double>(sums.begin(), sums.end()), width));
    const auto values = nb::cast<Array<double>>((*owned)(rows));
    if (values.size() != scores.size()) throw Error("an objective must return one score for each row");
    std::copy(values.data(), values.data() + values.size(), scores.begin());
  };
}

// Candidates as rows of a sparse matrix, by sentence.
struct SparseCandidates {
  SparseCandidates(Array<double> own_values, Array<std::int32_t> own_columns, Ints own_offsets, Ints own_lists)
      : values(std::move(own_values)),
        columns(std::move(own_columns)),
        row_offsets(std::move(own_offsets)),
        lists(std::move(own_lists)) {}
  Array<double> values;
  Array<std::int32_t> columns;
  Ints row_offsets, lists;
};

// N-best lists of sentences, with their arrays.
class NBestLists {
 public:
  NBestLists(Array2<double> features, Array2<double> statistics, Ints offsets)
      : features_(std::move(features)), statistics_(std::move(statistics)), offsets_(std::move(offsets)) {
    const NBestView lists = nbest();
    if (lists.offsets.empty() || lists.offsets.front() != 0 || lists.n_candidates() != features_.shape(0) ||
        features_.shape(0) != statistics_.shape(0))
      throw Error("offsets, features and statistics of an n-best list do not match");
    if (lists.n_features == 0 || lists.n_statistics == 0) throw Error("n-best lists need features and statistics");
    for (std::size_t s = 0; s < lists.n_sentences(); ++s)
      if (lists.offsets[s] >= lists.offsets[s + 1]) throw Error("a sentence has no candidates");
  }
  NBestView nbest() const {
    return {view(features_), features_.shape(1), view(statistics_), statistics_.shape(1), view(offsets_)};
  }

 private:
  Array2<double> features_, statistics_;
  Ints offsets_;
};

}  // namespace

HYPERBATON_BINDINGS(tune) {
  using namespace nb::literals;

  nb::class_<BoundObjective>(m, "Objective", "The objective of tuning: a function of sums of statistics.");
  m.def(
      "bleu_objective",
      [](std::size_t max_order, bool smooth) {
        return BoundObjective{bleu_objective({.max_order = max_order, .smooth = smooth})};
      },
      nb::kw_only(), "max_order"_a, "smooth"_a);
  m.def(
      "python_objective", [](const nb::callable& callable) { return BoundObjective{python_objective(callable)}; },
      "callable"_a, "An objective that calls Python with rows of sums, and expects a float64 score for each.");

  nb::class_<NBestLists>(m, "NBestLists", "Features and statistics of the candidates of sentences.")
      .def(nb::init<Array2<double>, Array2<double>, Ints>(), nb::kw_only(), "features"_a, "statistics"_a, "offsets"_a);

  m.def(
      "line_search",
      [](const NBestLists& lists, const BoundObjective& objective, const Array<double>& weights,
         const Array<double>& direction) {
        const NBestView nbest = lists.nbest();
        if (weights.size() != nbest.n_features || direction.size() != nbest.n_features)
          throw Error("weights and direction need one value for each feature");
        BestStep best;
        {
          const nb::gil_scoped_release release;
          std::vector<double> scores(nbest.n_candidates(), 0.0), slopes(scores);
          for (std::size_t c = 0; c < scores.size(); ++c)
            for (std::size_t f = 0; f < nbest.n_features; ++f) {
              scores[c] += weights.data()[f] * nbest.features_of(c)[f];
              slopes[c] += direction.data()[f] * nbest.features_of(c)[f];
            }
          best = LineSearch(nbest, objective.function).search(scores, slopes);
        }
        return nb::make_tuple(best.step, best.score, best.low, best.high);
      },
      nb::kw_only(), "lists"_a, "objective"_a, "weights"_a, "direction"_a,
      "The best step along a direction: step, score, and the interval with this score.");

  nb::class_<MertOptions>(m, "MertOptions", "Options of minimum error rate training.")
      .def(nb::init<std::size_t, std::size_t, double, std::uint64_t, unsigned>(), nb::kw_only(), "n_directions"_a,
           "max_passes"_a, "tolerance"_a, "seed"_a, "n_threads"_a);

  m.def(
      "mert",
      [](const NBestLists& lists, const BoundObjective& objective, const Array2<double>& starts, const Words& axes,
         const Array<double>& scales, const Array<double>& constant, const MertOptions& options, const Progress& progress) {
        const NBestView nbest = lists.nbest();
        if (starts.shape(1) != nbest.n_features || scales.size() != nbest.n_features)
          throw Error("starts and scales need one value for each feature");
        for (const std::uint32_t axis : view(axes))
          if (axis >= nbest.n_features) throw Error("there is no such feature");
        if (constant.size() != 0 && constant.size() != nbest.n_candidates())
          throw Error("constant needs one value for each candidate, or none");
        auto climbed = without_gil([&] {
          return mert(nbest, objective.function, view(starts), view(axes), view(scales), view(constant), options, progress);
        });
        return nb::make_tuple(to_numpy(std::move(climbed.weights), nbest.n_features), to_numpy(std::move(climbed.scores)));
      },
      nb::kw_only(), "lists"_a, "objective"_a, "starts"_a, "axes"_a, "scales"_a, "constant"_a, "options"_a,
      "progress"_a.none(),
      "Climb from each start by exact line searches: weights (n_starts, n_features) and their scores.");

  m.def(
      "mira",
      [](const NBestLists& lists, const Array<double>& gains, const Array<double>& start, std::size_t n_passes,
         double max_step, std::uint64_t seed, const Progress& progress) {
        const NBestView nbest = lists.nbest();
        if (gains.size() != nbest.n_candidates() || start.size() != nbest.n_features)
          throw Error("MIRA needs a gain for each candidate and a weight for each feature");
        std::vector<double> averages;
        without_gil([&] {
          averages =
              mira(nbest, view(gains), view(start), {.n_passes = n_passes, .max_step = max_step, .seed = seed}, progress);
        });
        return to_numpy(std::move(averages), nbest.n_features);
      },
      nb::kw_only(), "lists"_a, "gains"_a, "start"_a, "n_passes"_a, "max_step"_a, "seed"_a, "progress"_a.none(),
      "Averaged weights after each pass, (n_passes, n_features).");

  nb::class_<SparseCandidates>(m, "SparseCandidates", "N-best lists whose candidates are rows of a sparse matrix.")
      .def(nb::init<Array<double>, Array<std::int32_t>, Ints, Ints>(), nb::kw_only(), "values"_a, "columns"_a,
           "row_offsets"_a, "lists"_a);

  m.def(
      "sparse_mira",
      [](const SparseCandidates& candidates, const Array<double>& gains, const Array<double>& start, const Words& orders,
         double max_step, const Progress& progress) {
        const SparseMiraInput input{
            .rows = {view(candidates.values), view(candidates.columns), view(candidates.row_offsets), start.size()},
            .lists = view(candidates.lists),
            .gains = view(gains),
            .start = view(start),
            .orders = view(orders),
            .max_step = max_step};
        return to_numpy(without_gil([&] { return sparse_mira(input, progress); }), start.size());
      },
      nb::kw_only(), "candidates"_a, "gains"_a, "start"_a, "orders"_a, "max_step"_a, "progress"_a.none(),
      "Averaged weights after each pass, for candidates that are rows of a sparse matrix, in given orders of the "
      "sentences.");
}

}  // namespace hyperbaton::bindings
