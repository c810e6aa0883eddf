#include "learn/psl.hh"

#include <algorithm>
#include <cmath>

#include "learn/random.hh"

namespace hyperbaton {

namespace {

// A row is held out by a hash of its number, so that no list of rows needs to be kept.
bool is_held_out(std::uint64_t seed, std::size_t row, double part) {
  return static_cast<double>(combine(seed + 1, row) >> 11) * 0x1p-53 < part;
}

class Psl {
 public:
  Psl(const PslOptions& options, const Problem& problem)
      : options_(options),
        problem_(problem),
        scores_(problem.n_classes),
        weights_(problem.rows.width() * problem.n_classes, 0.0) {
    if (options.average) lag_.assign(weights_.size(), 0.0);
    const bool holds_out = options.validation > 0 && problem.validation == nullptr;
    for (std::size_t i = 0; i < problem.rows.size(); ++i) {
      auto& side = holds_out && is_held_out(problem.seed, i, options.validation) ? held_out_ : training_;
      side.push_back(static_cast<std::uint32_t>(i));
    }
    if (held_out_.size() < options.min_validation || training_.empty()) {
      training_.insert(training_.end(), held_out_.begin(), held_out_.end());
      std::ranges::sort(training_);
      held_out_.clear();
    }
  }

  Fit run() {
    Random random(problem_.seed);
    Fit fit;
    auto &objective = fit.history["objective"], &errors = fit.history["validation"];
    const std::size_t n_judges = problem_.validation == nullptr ? held_out_.size() : problem_.validation->rows.size();
    std::size_t fewest = n_judges + 1, best_pass = 0;
    for (std::size_t pass = 0; pass < options_.max_passes; ++pass) {
      shuffle_rows(problem_.rows, random, training_);
      const double loss = walk(pass) / static_cast<double>(training_.size());
      objective.push_back(loss);
      if (n_judges > 0) {
        std::vector<double> now = result();
        const std::size_t wrong = count_errors(now);
        errors.push_back(static_cast<double>(wrong) / static_cast<double>(n_judges));
        if (wrong < fewest) {
          fewest = wrong;
          best_pass = pass;
          fit.weights = std::move(now);
        }
        if (pass - best_pass >= options_.patience) break;
      }
      if (loss == 0) break;
      if (pass > 0 && std::abs(objective[pass - 1] - loss) < options_.tolerance * objective[pass - 1]) break;
    }
    if (n_judges == 0) fit.weights = result();
    return fit;
  }

 private:
  // One pass; returns the sum of the losses met.
  double walk(std::size_t pass) {
    double total = 0;
    std::vector<double> factors(problem_.n_classes, 0.0);
    for (std::size_t t = 0; t < training_.size(); ++t) {
      if (t % kReportRows == 0) problem_.report(pass, options_.max_passes);
      prefetch_visits(problem_.rows, problem_.labels, std::span<const std::uint32_t>(training_), t, nullptr, 0);
      const std::size_t i = training_[t], y = problem_.label(i);
      const Row row = problem_.rows[i];
      score_row(row, weights_.data(), scores_);
      const std::size_t worst = most_violating(options_.delta, y, scores_);
      const double loss = options_.delta(y, worst) + scores_[worst] - scores_[y];
      if (loss > 0) {
        total += loss;
        update(row, y, worst);
      }
      ++n_visits_;
    }
    return total;
  }

  void update(const Row& row, std::size_t truth, std::size_t worst) {
    const std::size_t n = problem_.n_classes;
    add_class(row, options_.step, n, truth, weights_.data());
    add_class(row, -options_.step, n, worst, weights_.data());
    if (options_.average) {
      // What the weights lacked during the visits before this one, so that the mean costs nothing per visit.
      const double missed = options_.step * static_cast<double>(n_visits_);
      add_class(row, missed, n, truth, lag_.data());
      add_class(row, -missed, n, worst, lag_.data());
    }
  }

  std::vector<double> result() const {
    std::vector<double> w = weights_;
    if (options_.average)
      for (std::size_t j = 0; j < w.size(); ++j) w[j] -= lag_[j] / static_cast<double>(n_visits_);
    return w;
  }

  bool is_wrong(const std::vector<double>& weights, const Row& row, std::size_t label) {
    score_row(row, weights.data(), scores_);
    return static_cast<std::size_t>(std::max_element(scores_.begin(), scores_.end()) - scores_.begin()) != label;
  }

  std::size_t count_errors(const std::vector<double>& weights) {
    std::size_t wrong = 0;
    if (problem_.validation != nullptr) {
      const auto& [rows, labels] = *problem_.validation;
      for (std::size_t i = 0; i < rows.size(); ++i)
        wrong += is_wrong(weights, rows[i], static_cast<std::size_t>(labels[i]));
    }
    for (const std::size_t i : held_out_) wrong += is_wrong(weights, problem_.rows[i], problem_.label(i));
    return wrong;
  }

  const PslOptions& options_;
  const Problem& problem_;
  std::vector<double> scores_, weights_, lag_;
  std::vector<std::uint32_t> training_, held_out_;
  std::size_t n_visits_ = 0;
};

}  // namespace

Trainer psl_trainer(const PslOptions& options) {
  return [options](const Problem& problem) { return Psl(options, problem).run(); };
}

}  // namespace hyperbaton
