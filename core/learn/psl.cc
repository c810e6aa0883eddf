#include "learn/psl.hh"

#include <algorithm>
#include <cmath>

#include "learn/psl_scores.hh"
#include "learn/random.hh"

namespace hyperbaton {

namespace {

// Up to this many rows, and without validation rows, the products of all pairs of rows are precomputed. A visit then
// costs only a comparison, and an update one addition for each row and class.
constexpr std::size_t kPairwiseRows = 128;
// Numbers of classes with specialised code.
constexpr std::size_t kMostClasses = 6;

// A row is held out by a hash of its number, so no list of rows is needed.
bool is_held_out(std::uint64_t seed, std::size_t row, double part) {
  return static_cast<double>(combine(seed + 1, row) >> 11) * 0x1p-53 < part;
}

class Psl {
 public:
  Psl(const PslOptions& options, const Problem& problem)
      : options_(options),
        problem_(problem),
        judges_(problem.validation == nullptr
                    ? Judges{problem.rows, problem.labels, {}}
                    : Judges{problem.validation->rows, problem.validation->labels, all_rows(problem.validation->rows)}) {
    const bool holds_out = options.validation > 0 && problem.validation == nullptr;
    std::vector<std::uint32_t> held_out;
    for (std::size_t i = 0; i < problem.rows.size(); ++i) {
      auto& side = holds_out && is_held_out(problem.seed, i, options.validation) ? held_out : training_;
      side.push_back(static_cast<std::uint32_t>(i));
    }
    if (held_out.size() < options.min_validation || training_.empty()) {
      training_.insert(training_.end(), held_out.begin(), held_out.end());
      std::ranges::sort(training_);
    } else {
      judges_.numbers = std::move(held_out);
    }
  }

  Fit run() {
    switch (problem_.n_classes) {
      case 2:
        return run_with<2>();
      case 3:
        return run_with<3>();
      case 4:
        return run_with<4>();
      case 5:
        return run_with<5>();
      case kMostClasses:
        return run_with<kMostClasses>();
      default:
        return run_with<0>();
    }
  }

 private:
  template <std::size_t K>
  Fit run_with() {
    if (judges_.size() == 0 && training_.size() <= kPairwiseRows) return run_by<ByPairs<K>>();
    if constexpr (K > 0)
      if (!options_.average) return run_by<ByWeights<K, float>>();
    return run_by<ByWeights<K, double>>();
  }

  template <class Scores>
  Fit run_by() {
    Scores model(options_, problem_, judges_);
    Random random(problem_.seed);
    Fit fit;
    auto &objective = fit.history["objective"], &errors = fit.history["validation"];
    std::size_t fewest = judges_.size() + 1, best_pass = 0;
    for (std::size_t pass = 0; pass < options_.max_passes; ++pass) {
      shuffle_rows(problem_.rows, random, training_);
      const double loss = walk(pass, model) / static_cast<double>(training_.size());
      objective.push_back(loss);
      if (judges_.size() > 0) {
        const std::size_t wrong = model.count_errors(n_visits_);
        errors.push_back(static_cast<double>(wrong) / static_cast<double>(judges_.size()));
        if (wrong < fewest) {
          fewest = wrong;
          best_pass = pass;
          model.keep(n_visits_);
        }
        if (pass - best_pass >= options_.patience) break;
      }
      if (loss == 0) break;
      if (pass > 0 && std::abs(objective[pass - 1] - loss) < options_.tolerance * objective[pass - 1]) break;
    }
    if (judges_.size() == 0) model.keep(n_visits_);
    fit.weights = model.weights();
    return fit;
  }

  // One pass; returns the sum of the losses.
  template <class Scores>
  double walk(std::size_t pass, Scores& model) {
    double total = 0;
    // How many visits ahead to prefetch the location of a row, and then the row itself.
    constexpr std::size_t kFar = 16, kNear = 6;
    auto scores = Scores::Classes::zeros(problem_.n_classes);
    for (std::size_t t = 0; t < training_.size(); ++t) {
      if (t % kReportRows == 0) problem_.report(pass, options_.max_passes);
      if (t + kFar < training_.size()) {
        model.prefetch_place(training_[t + kFar]);
        __builtin_prefetch(&problem_.labels[training_[t + kFar]]);
      }
      if (t + kNear < training_.size()) model.prefetch(training_[t + kNear]);
      const std::size_t i = training_[t], y = problem_.label(i);
      model.score(i, scores);
      // Look for the most violating class only if there is a violation.
      const double loss = largest_violation(options_.delta, y, scores) - scores[y];
      if (loss > 0) {
        const std::size_t worst = most_violating(options_.delta, y, scores);
        total += loss;
        // The weights' deficit during earlier visits, so that averaging costs nothing per visit.
        model.update(i, y, worst, options_.step * static_cast<double>(n_visits_ + t));
      }
    }
    n_visits_ += training_.size();
    return total;
  }

  const PslOptions& options_;
  const Problem& problem_;
  std::vector<std::uint32_t> training_;
  Judges judges_;
  std::size_t n_visits_ = 0;
};

}  // namespace

Trainer psl_trainer(const PslOptions& options) {
  return [options](const Problem& problem) { return Psl(options, problem).run(); };
}

}  // namespace hyperbaton
