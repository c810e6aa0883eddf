// The scores of rows while a perceptron learns: from weights or, for few rows, from the products of all pairs of rows.
//
// Both classes have `score(i, scores)` of a training row; `update(i, truth, worst, missed)`, which moves the weights of
// two classes by it, where `missed` is the deficit of the weights' mean so far; `prefetch(i)` for the memory of a row;
// `count_errors(n_visits)` on the validation rows; and `keep(n_visits)` for the weights that `weights()` returns.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <new>
#include <optional>
#include <span>
#include <vector>

#include "base/size.hh"
#include "learn/psl.hh"
#include "learn/visited_rows.hh"

namespace hyperbaton {

// Validation rows.
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

// One value for each class. K: number of classes, 0 for any.
template <std::size_t K>
struct ByClass {
  using Values = std::array<double, K>;
  static Values zeros(std::size_t) { return {}; }
};
template <>
struct ByClass<0> {
  using Values = std::vector<double>;
  static Values zeros(std::size_t n_classes) { return Values(n_classes, 0.0); }
};

// One value for each class in registers of two values, the last one half empty if K is odd.
typedef double DoublePair __attribute__((vector_size(16)));
template <std::size_t K>
struct Pairs {
  std::array<DoublePair, (K + 1) / 2> pairs{};

  static constexpr std::size_t size() { return 2 * ((K + 1) / 2); }
  double operator[](std::size_t k) const { return pairs[k / 2][k % 2]; }
  void add(const double* values) {
    for (std::size_t p = 0; p < pairs.size(); ++p) pairs[p] += pair(values, p);
  }
  void add(double factor, const double* values) {
    for (std::size_t p = 0; p < pairs.size(); ++p) pairs[p] += factor * pair(values, p);
  }
  void add_to(double* values) const {
    for (std::size_t p = 0; p < pairs.size(); ++p) {
      const DoublePair sum = pair(values, p) + pairs[p];
      std::memcpy(values + 2 * p, &sum, sizeof sum);
    }
  }

 private:
  static DoublePair pair(const double* values, std::size_t p) {
    DoublePair made;
    std::memcpy(&made, values + 2 * p, sizeof made);
    return made;
  }
};

// An array aligned to a cache line.
template <class T>
struct CacheLineAllocator {
  using value_type = T;
  static constexpr std::align_val_t kLine{64};
  T* allocate(std::size_t n) { return static_cast<T*>(::operator new(n * sizeof(T), kLine)); }
  void deallocate(T* values, std::size_t) { ::operator delete(values, kLine); }
  bool operator==(const CacheLineAllocator&) const = default;
};
using Matrix = std::vector<double, CacheLineAllocator<double>>;

// Scores from the weights of the features. K: number of classes, 0 for any.
template <std::size_t K>
class ByWeights {
 public:
  using Classes = ByClass<K>;

  ByWeights(const PslOptions& options, const Problem& problem, const Judges& judges)
      : step_(options.step),
        n_classes_(problem.n_classes),
        width_(problem.rows.width()),
        judges_(judges),
        ranks_(is_copied(problem.rows) && (&judges.rows == &problem.rows || is_copied(judges.rows))
                   ? frequency_ranks(problem.rows)
                   : std::vector<FeatureId>()),
        rows_(problem.rows, ranks_, filler()),
        weights_((width_ + 1) * stride(), 0.0),
        lag_(options.average ? weights_.size() : 0, 0.0) {
    if (&judges.rows != &problem.rows) other_rows_.emplace(judges.rows, ranks_, filler());
  }

  void prefetch_place(std::size_t i) const { rows_.prefetch_place(i); }
  void prefetch(std::size_t i) const { rows_.prefetch(i); }

  void score(std::size_t i, typename Classes::Values& scores) const {
    const Row row = rows_[i];
    if constexpr (K == 0) {
      score_row(row, weights_.data(), scores);
    } else {
      // Two independent sums, for instruction-level parallelism.
      Pairs<K> even, odd;
      const FeatureId* features = row.features.data();
      const std::size_t n = row.features.size();
      if (rows_.is_filled()) {
        static_assert(VisitedRows::kTogether == 4);
        for (std::size_t j = 0; j < n; j += 4) {
          even.add(at(features[j])), odd.add(at(features[j + 1]));
          even.add(at(features[j + 2])), odd.add(at(features[j + 3]));
        }
      } else {
        const auto add = [&](Pairs<K>& sums, std::size_t j) {
          sums.add(row.values == nullptr ? 1.0 : row.values[j], at(features[j]));
        };
        for (std::size_t j = 0; j + 1 < n; j += 2) add(even, j), add(odd, j + 1);
        if (n % 2 == 1) add(even, n - 1);
      }
      for (std::size_t k = 0; k < K; ++k) scores[k] = row.scale * (even[k] + odd[k]);
      if (row.constant == kNoConstant) return;
      for (std::size_t k = 0; k < K; ++k) scores[k] += at(row.constant)[k];
    }
  }

  void update(std::size_t i, std::size_t truth, std::size_t worst, double missed) {
    const Row row = rows_[i];
    move(row, step_, truth, worst, weights_);
    if (!lag_.empty()) move(row, missed, truth, worst, lag_);
  }

  std::size_t count_errors(std::size_t n_visits) {
    const Matrix& weights = current(n_visits);
    const VisitedRows& judging = other_rows_ ? *other_rows_ : rows_;
    auto scores = Classes::zeros(n_classes_);
    std::size_t wrong = 0;
    for (std::size_t j = 0; j < judges_.size(); ++j) {
      // Must add in the order of score_row, so that equal scores there are equal here.
      const Row row = judging[judges_.numbers[j]];
      if constexpr (K == 0) {
        score_row(row, weights.data(), scores);
      } else {
        Pairs<K> sums;
        row.visit([&](FeatureId feature, double value) { sums.add(value, &weights[to_size(feature) * kStride]); });
        for (std::size_t k = 0; k < K; ++k) scores[k] = sums[k];
      }
      wrong += judges_.is_wrong(j, scores);
    }
    return wrong;
  }

  void keep(std::size_t n_visits) { kept_ = current(n_visits); }

  std::vector<double> weights() {
    for (Matrix* done : {&weights_, &lag_, &mean_}) Matrix().swap(*done);
    std::vector<double> weights(width_ * n_classes_);
    for (std::size_t f = 0; f < width_; ++f) {
      const std::size_t rank = f < ranks_.size() ? to_size(ranks_[f]) : f;
      std::copy_n(&kept_[rank * stride()], n_classes_, &weights[f * n_classes_]);
    }
    return weights;
  }

 private:
  // Values per feature: an even number, so that two are added at once.
  static constexpr std::size_t kStride = Pairs<K>::size();
  std::size_t stride() const { return K == 0 ? n_classes_ : kStride; }

  void move(const Row& row, double size, std::size_t truth, std::size_t worst, Matrix& weights) const {
    if constexpr (K == 0) {
      row.visit([&](FeatureId feature, double value) {
        double* w = &weights[to_size(feature) * n_classes_];
        w[truth] += size * value;
        w[worst] -= size * value;
      });
    } else {
      // All classes are written, most of them unchanged: reading two values that were written separately would stall
      // until they are in the cache.
      std::array<double, kStride> direction{};
      direction[truth] = 1, direction[worst] = -1;
      row.visit([&](FeatureId feature, double value) {
        Pairs<K> change;
        change.add(size * value, direction.data());
        change.add_to(&weights[to_size(feature) * kStride]);
      });
    }
  }

  FeatureId filler() const { return static_cast<FeatureId>(width_); }
  const double* at(FeatureId feature) const { return &weights_[to_size(feature) * kStride]; }

  // The weights that would be returned now.
  const Matrix& current(std::size_t n_visits) {
    if (lag_.empty()) return weights_;
    mean_ = weights_;
    for (std::size_t j = 0; j < mean_.size(); ++j) mean_[j] -= lag_[j] / static_cast<double>(n_visits);
    return mean_;
  }

  double step_;
  std::size_t n_classes_, width_;
  const Judges& judges_;
  std::vector<FeatureId> ranks_;  // empty: rows are not copied
  VisitedRows rows_;
  std::optional<VisitedRows> other_rows_;  // for validation, if they are not among the training rows
  Matrix weights_, lag_, mean_, kept_;     // of the features, and zeros of the filler
};

// Scores from the products of all pairs of rows: the scores of all rows are always known, and weights are computed at the
// end. There are no validation rows.
template <std::size_t K>
class ByPairs {
 public:
  using Classes = ByClass<K>;

  ByPairs(const PslOptions& options, const Problem& problem, const Judges&)
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

  void prefetch_place(std::size_t) const {}
  void prefetch(std::size_t) const {}

  void score(std::size_t i, typename Classes::Values& scores) const {
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
  // A row meets earlier rows at shared features.
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
        std::uint32_t& head = last[to_size(feature)];
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

}  // namespace hyperbaton
