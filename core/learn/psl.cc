#include "learn/psl.hh"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <type_traits>

#include "learn/random.hh"

namespace hyperbaton {

namespace {

// Up to this many rows, if there are none to judge by, the products of all pairs of rows are computed first. A visit then
// costs nothing but a comparison, and an update one addition for each row and class.
constexpr std::size_t kPairwiseRows = 128;
// Numbers of classes that have code of their own.
constexpr std::size_t kMostClasses = 6;
// Rows with at most so many entries are copied: 16 MiB.
constexpr std::size_t kCopiedEntries = std::size_t{1} << 22;

// A row is held out by a hash of its number, so that no list of rows needs to be kept.
bool is_held_out(std::uint64_t seed, std::size_t row, double part) {
  return static_cast<double>(combine(seed + 1, row) >> 11) * 0x1p-53 < part;
}

// Rows to judge by.
struct Judges {
  const Rows& rows;
  std::span<const Label> labels;
  std::vector<std::uint32_t> numbers;

  std::size_t size() const { return numbers.size(); }
  bool is_wrong(std::size_t j, std::span<const double> scores) const {
    const auto best = std::max_element(scores.begin(), scores.end()) - scores.begin();
    return best != labels[numbers[j]];
  }
};

// Who computes scores: `score(i, scores)` of a row to learn from; `update(i, truth, worst, missed)` moves the weights of
// two classes by it, where `missed` is what the mean of the weights lacked so far; `count_errors(n_visits)` on the rows to
// judge by; `keep(n_visits)` the weights that are to be returned, and `weights()`.

// Rows for many visits: if they are few enough, a copy whose features are numbered by falling frequency, so that the
// weights of frequent ones lie together, and whose scales are computed once.
class VisitedRows {
 public:
  VisitedRows(const Rows& rows, const std::vector<FeatureId>& numbers) : rows_(&rows) {
    if (numbers.empty()) return;
    const Shard& shard = rows.shard(0);
    indices_.reserve(rows.n_entries());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const Row row = rows[i];
      for (const FeatureId feature : row.features) indices_.push_back(numbers[static_cast<std::size_t>(feature)]);
      scales_.push_back(row.scale);
    }
    copy_.emplace(rows.n_features(), RowOptions{rows.options().constant, false});
    copy_->add_trusted({shard.starts, indices_, shard.values});
    rows_ = &*copy_;
  }
  VisitedRows(const VisitedRows&) = delete;
  VisitedRows& operator=(const VisitedRows&) = delete;

  const Rows& rows() const { return *rows_; }
  Row operator[](std::size_t i) const {
    Row row = (*rows_)[i];
    if (!scales_.empty()) row.scale = scales_[i];
    return row;
  }

 private:
  const Rows* rows_;
  std::vector<FeatureId> indices_;
  std::vector<double> scales_;
  std::optional<Rows> copy_;
};

// The rank of each feature by falling frequency.
std::vector<FeatureId> frequency_ranks(const Rows& rows) {
  std::vector<std::uint32_t> counts(rows.n_features(), 0), next(rows.size() + 1, 0);
  for (const FeatureId feature : rows.shard(0).indices) ++counts[static_cast<std::size_t>(feature)];
  for (std::uint32_t& count : counts) ++next[count = static_cast<std::uint32_t>(rows.size()) - count];
  exclusive_sum(next);
  std::vector<FeatureId> ranks(counts.size());
  for (std::size_t f = 0; f < counts.size(); ++f) ranks[f] = static_cast<FeatureId>(next[counts[f]]++);
  return ranks;
}

bool is_copied(const Rows& rows) {
  return rows.n_shards() == 1 && rows.shard(0).starts.front() == 0 && rows.n_entries() <= kCopiedEntries &&
         rows.shard(0).indices.size() == rows.n_entries();
}

// By the weights of the features. K: number of classes, 0 for any.
template <std::size_t K>
class ByWeights {
 public:
  ByWeights(const PslOptions& options, const Problem& problem, std::span<const std::uint32_t>, const Judges& judges)
      : step_(options.step),
        n_classes_(problem.n_classes),
        width_(problem.rows.width()),
        judges_(judges),
        ranks_(is_copied(problem.rows) && (&judges.rows == &problem.rows || is_copied(judges.rows))
                   ? frequency_ranks(problem.rows)
                   : std::vector<FeatureId>()),
        rows_(problem.rows, ranks_),
        weights_(width_ * stride(), 0.0),
        lag_(options.average ? weights_.size() : 0, 0.0) {
    if (&judges.rows != &problem.rows) other_rows_.emplace(judges.rows, ranks_);
  }

  const Rows& rows() const { return rows_.rows(); }

  void score(std::size_t i, std::span<double> scores) const { score_with(weights_, rows_[i], scores); }

  void update(std::size_t i, std::size_t truth, std::size_t worst, double missed) {
    const Row row = rows_[i];
    move(row, step_, truth, worst, weights_);
    if (!lag_.empty()) move(row, missed, truth, worst, lag_);
  }

  std::size_t count_errors(std::size_t n_visits) {
    if (!lag_.empty()) average(n_visits);
    const std::vector<double>& weights = lag_.empty() ? weights_ : mean_;
    const VisitedRows& judging = other_rows_ ? *other_rows_ : rows_;
    std::vector<double> scores(n_classes_);
    std::size_t wrong = 0;
    for (std::size_t j = 0; j < judges_.size(); ++j) {
      // As score_row does it, so that scores that are equal there are equal here.
      std::ranges::fill(scores, 0.0);
      judging[judges_.numbers[j]].visit([&](FeatureId feature, double value) {
        const double* w = weights.data() + static_cast<std::size_t>(feature) * stride();
        for (std::size_t k = 0; k < n_classes_; ++k) scores[k] += value * w[k];
      });
      wrong += judges_.is_wrong(j, scores);
    }
    return wrong;
  }

  void keep(std::size_t n_visits) {
    if (!lag_.empty()) average(n_visits);
    const std::vector<double>& weights = lag_.empty() ? weights_ : mean_;
    kept_.resize(width_ * n_classes_);
    for (std::size_t f = 0; f < width_; ++f) {
      const std::size_t rank = f < ranks_.size() ? static_cast<std::size_t>(ranks_[f]) : f;
      std::copy_n(weights.begin() + static_cast<std::ptrdiff_t>(rank * stride()), n_classes_,
                  kept_.begin() + static_cast<std::ptrdiff_t>(f * n_classes_));
    }
  }
  std::vector<double> weights() { return std::move(kept_); }

 private:
  // Values for each feature: an even number, so that two are added at once.
  std::size_t stride() const { return K == 0 ? n_classes_ : K + K % 2; }

  void score_with(const std::vector<double>& weights, const Row& row, std::span<double> scores) const {
    if constexpr (K == 0) {
      score_row(row, weights.data(), scores);
    } else {
      constexpr std::size_t width = K + K % 2;
      // Two sums, of which neither waits for the other.
      std::array<double, width> even{}, odd{};
      const auto add = [&](std::array<double, width>& sums, std::size_t j, auto&& value) {
        const double* w = weights.data() + static_cast<std::size_t>(row.features[j]) * width;
        for (std::size_t k = 0; k < width; ++k) sums[k] += value(j, w[k]);
      };
      const auto add_all = [&](auto&& value) {
        std::size_t j = 0;
        for (; j + 1 < row.features.size(); j += 2) add(even, j, value), add(odd, j + 1, value);
        if (j < row.features.size()) add(even, j, value);
      };
      if (row.values == nullptr)
        add_all([](std::size_t, double w) { return w; });
      else
        add_all([&](std::size_t j, double w) { return row.values[j] * w; });
      for (std::size_t k = 0; k < K; ++k) scores[k] = row.scale * (even[k] + odd[k]);
      if (row.constant == kNoConstant) return;
      const double* w = weights.data() + static_cast<std::size_t>(row.constant) * width;
      for (std::size_t k = 0; k < K; ++k) scores[k] += w[k];
    }
  }

  void move(const Row& row, double size, std::size_t truth, std::size_t worst, std::vector<double>& weights) const {
    row.visit([&](FeatureId feature, double value) {
      double* w = weights.data() + static_cast<std::size_t>(feature) * stride();
      w[truth] += size * value;
      w[worst] -= size * value;
    });
  }

  void average(std::size_t n_visits) {
    mean_ = weights_;
    for (std::size_t j = 0; j < mean_.size(); ++j) mean_[j] -= lag_[j] / static_cast<double>(n_visits);
  }

  double step_;
  std::size_t n_classes_, width_;
  const Judges& judges_;
  std::vector<FeatureId> ranks_;  // empty: rows are not copied
  VisitedRows rows_;
  std::optional<VisitedRows> other_rows_;  // to judge by, where they are not among those to learn from
  std::vector<double> weights_, lag_, mean_, kept_;
};

// By the products of all pairs of rows: the scores of all rows are always known, and weights are made at the end. There are
// no rows to judge by.
class ByPairs {
 public:
  ByPairs(const PslOptions& options, const Problem& problem, std::span<const std::uint32_t>, const Judges&)
      : step_(options.step),
        average_(options.average),
        problem_(problem),
        n_(problem.rows.size()),
        products_(n_ * n_, 0.0),
        scores_(n_ * problem.n_classes, 0.0),
        moves_(n_ * problem.n_classes, 0.0),
        missed_(average_ ? moves_.size() : 0, 0.0) {
    multiply();
  }

  void score(std::size_t i, std::span<double> scores) const {
    for (std::size_t k = 0; k < scores.size(); ++k) scores[k] = scores_[k * n_ + i];
  }

  void update(std::size_t i, std::size_t truth, std::size_t worst, double missed) {
    const double* product = &products_[i * n_];
    double *up = &scores_[truth * n_], *down = &scores_[worst * n_];
    for (std::size_t b = 0; b < n_; ++b) {
      const double change = step_ * product[b];
      up[b] += change;
      down[b] -= change;
    }
    moves_[i * problem_.n_classes + truth] += 1;
    moves_[i * problem_.n_classes + worst] -= 1;
    if (!average_) return;
    missed_[i * problem_.n_classes + truth] += missed;
    missed_[i * problem_.n_classes + worst] -= missed;
  }

  std::size_t count_errors(std::size_t) const { return 0; }

  void keep(std::size_t n_visits) {
    for (std::size_t j = 0; j < moves_.size(); ++j)
      moves_[j] = step_ * moves_[j] - (average_ ? missed_[j] / static_cast<double>(n_visits) : 0.0);
  }
  std::vector<double> weights() const {
    std::vector<double> weights(problem_.rows.width() * problem_.n_classes, 0.0);
    for (std::size_t i = 0; i < n_; ++i) {
      const auto moves = std::span(moves_).subspan(i * problem_.n_classes, problem_.n_classes);
      if (std::ranges::any_of(moves, [](double move) { return move != 0; }))
        add_row(problem_.rows[i], moves, weights.data());
    }
    return weights;
  }

 private:
  // A row meets the rows before it at the features that they share.
  void multiply() {
    struct Entry {
      std::uint32_t row, next;
      double value;
    };
    constexpr std::uint32_t none = 0xffffffff;
    std::vector<std::uint32_t> last(problem_.rows.n_features(), none);  // entry of each feature
    std::vector<Entry> entries;
    entries.reserve(problem_.rows.n_entries());
    for (std::size_t b = 0; b < n_; ++b) {
      double* own = &products_[b * n_];
      Row row = problem_.rows[b];
      // All rows share the constant.
      const double shared = row.constant == kNoConstant ? 0.0 : 1.0;
      std::fill_n(own, b + 1, shared);
      row.constant = kNoConstant;
      row.visit([&](FeatureId feature, double value) {
        std::uint32_t& head = last[static_cast<std::size_t>(feature)];
        for (std::uint32_t e = head; e != none; e = entries[e].next) own[entries[e].row] += value * entries[e].value;
        own[b] += value * value;
        entries.push_back({static_cast<std::uint32_t>(b), head, value});
        head = static_cast<std::uint32_t>(entries.size() - 1);
      });
      for (std::size_t a = 0; a < b; ++a) products_[a * n_ + b] = own[a];
    }
  }

  double step_;
  bool average_;
  const Problem& problem_;
  std::size_t n_;
  std::vector<double> products_;        // (rows, rows)
  std::vector<double> scores_;          // (classes, rows)
  std::vector<double> moves_, missed_;  // (rows, classes): updates by each row
};

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
    if (judges_.size() == 0 && training_.size() <= kPairwiseRows) return run_by<ByPairs>();
    switch (problem_.n_classes) {
      case 2:
        return run_by<ByWeights<2>>();
      case 3:
        return run_by<ByWeights<3>>();
      case 4:
        return run_by<ByWeights<4>>();
      case 5:
        return run_by<ByWeights<5>>();
      case kMostClasses:
        return run_by<ByWeights<kMostClasses>>();
      default:
        return run_by<ByWeights<0>>();
    }
  }

 private:
  template <class Scores>
  Fit run_by() {
    Scores model(options_, problem_, training_, judges_);
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

  // One pass; returns the sum of the losses met.
  template <class Scores>
  double walk(std::size_t pass, Scores& model) {
    double total = 0;
    std::vector<double> scores(problem_.n_classes);
    for (std::size_t t = 0; t < training_.size(); ++t) {
      if (t % kReportRows == 0) problem_.report(pass, options_.max_passes);
      if constexpr (!std::is_same_v<Scores, ByPairs>)
        prefetch_visits(model.rows(), problem_.labels, std::span<const std::uint32_t>(training_), t, nullptr, 0);
      const std::size_t i = training_[t], y = problem_.label(i);
      model.score(i, scores);
      const std::size_t worst = most_violating(options_.delta, y, scores);
      const double loss = options_.delta(y, worst) + scores[worst] - scores[y];
      if (loss > 0) {
        total += loss;
        // What the weights lacked during the visits before this one, so that their mean costs nothing per visit.
        model.update(i, y, worst, options_.step * static_cast<double>(n_visits_));
      }
      ++n_visits_;
    }
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
