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
#include <type_traits>
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

// One value for each class in registers of 16 bytes, the last one filled up with values that are never read.
typedef float Floats __attribute__((vector_size(16)));
typedef double Doubles __attribute__((vector_size(16)));
template <std::size_t K, class Value>
struct Lanes {
  using Register = std::conditional_t<std::is_same_v<Value, float>, Floats, Doubles>;
  static constexpr std::size_t kWide = 16 / sizeof(Value);
  std::array<Register, (K + kWide - 1) / kWide> registers{};

  static constexpr std::size_t size() { return kWide * ((K + kWide - 1) / kWide); }
  Value operator[](std::size_t k) const { return registers[k / kWide][k % kWide]; }
  void add(const Lanes& other) {
    for (std::size_t r = 0; r < registers.size(); ++r) registers[r] += other.registers[r];
  }
  void add(const Value* values) {
    for (std::size_t r = 0; r < registers.size(); ++r) registers[r] += load(values, r);
  }
  void add(Value factor, const Value* values) {
    for (std::size_t r = 0; r < registers.size(); ++r) registers[r] += factor * load(values, r);
  }
  void add_to(Value* values) const {
    for (std::size_t r = 0; r < registers.size(); ++r) {
      const Register sum = load(values, r) + registers[r];
      std::memcpy(values + kWide * r, &sum, sizeof sum);
    }
  }

 private:
  static Register load(const Value* values, std::size_t r) {
    Register made;
    std::memcpy(&made, values + kWide * r, sizeof made);
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
template <class Value>
using Matrix = std::vector<Value, CacheLineAllocator<Value>>;

// Scores from the weights of the features. K: number of classes, 0 for any. A weight is a sum of steps of similar size, so
// that 32 bits are enough; the mean over many visits needs 64.
template <std::size_t K, class Value>
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
        weights_((width_ + 1) * stride(), 0),
        lag_(options.average ? weights_.size() : 0, 0) {
    if (&judges.rows != &problem.rows) other_rows_.emplace(judges.rows, ranks_, filler());
  }

  void prefetch_place(std::size_t i) const { rows_.prefetch_place(i); }
  void prefetch(std::size_t i) const { rows_.prefetch(i); }

  void score(std::size_t i, typename Classes::Values& scores) const { score(rows_, i, weights_, scores); }

  void update(std::size_t i, std::size_t truth, std::size_t worst, double missed) {
    const Row row = rows_[i];
    move(row, step_, truth, worst, weights_);
    if (!lag_.empty()) move(row, missed, truth, worst, lag_);
  }

  std::size_t count_errors(std::size_t n_visits) {
    const Matrix<Value>& weights = current(n_visits);
    const VisitedRows& judging = other_rows_ ? *other_rows_ : rows_;
    auto scores = Classes::zeros(n_classes_);
    std::size_t wrong = 0;
    for (std::size_t j = 0; j < judges_.size(); ++j) {
      score(judging, judges_.numbers[j], weights, scores);
      wrong += judges_.is_wrong(j, scores);
    }
    return wrong;
  }

  void keep(std::size_t n_visits) { kept_ = current(n_visits); }

  std::vector<double> weights() {
    for (Matrix<Value>* done : {&weights_, &lag_, &mean_}) Matrix<Value>().swap(*done);
    std::vector<double> weights(width_ * n_classes_);
    for (std::size_t f = 0; f < width_; ++f) {
      const std::size_t rank = f < ranks_.size() ? to_size(ranks_[f]) : f;
      std::copy_n(&kept_[rank * stride()], n_classes_, &weights[f * n_classes_]);
    }
    return weights;
  }

 private:
  using Sums = Lanes<K, Value>;

  // Values per feature: as many as fill registers.
  std::size_t stride() const { return K == 0 ? n_classes_ : Sums::size(); }

  void score(const VisitedRows& rows, std::size_t i, const Matrix<Value>& weights, typename Classes::Values& scores) const {
    const Row row = rows[i];
    if constexpr (K == 0) {
      score_row(row, weights.data(), scores);
    } else {
      const auto at = [&](FeatureId feature) { return &weights[to_size(feature) * Sums::size()]; };
      // Independent sums, for instruction-level parallelism; every form of a row is added in the same order.
      constexpr std::size_t kSums = VisitedRows::kTogether;
      std::array<Sums, kSums> sums;
      const FeatureId* features = row.features.data();
      const std::size_t n = row.features.size();
      if (rows.is_filled()) {
        for (std::size_t j = 0; j < n; j += kSums)
          for (std::size_t s = 0; s < kSums; ++s) sums[s].add(at(features[j + s]));
      } else {
        for (std::size_t j = 0; j < n; ++j)
          sums[j % kSums].add(row.values == nullptr ? Value{1} : static_cast<Value>(row.values[j]), at(features[j]));
      }
      static_assert(kSums == 4);
      sums[0].add(sums[2]), sums[1].add(sums[3]), sums[0].add(sums[1]);
      for (std::size_t k = 0; k < K; ++k) scores[k] = row.scale * static_cast<double>(sums[0][k]);
      if (row.constant == kNoConstant) return;
      for (std::size_t k = 0; k < K; ++k) scores[k] += static_cast<double>(at(row.constant)[k]);
    }
  }

  void move(const Row& row, double size, std::size_t truth, std::size_t worst, Matrix<Value>& weights) const {
    if constexpr (K == 0) {
      row.visit([&](FeatureId feature, double value) {
        double* w = &weights[to_size(feature) * n_classes_];
        w[truth] += size * value;
        w[worst] -= size * value;
      });
    } else {
      // All classes are written, most of them unchanged: reading a register whose values were written separately would
      // stall until they are in the cache.
      std::array<Value, Sums::size()> direction{};
      direction[truth] = 1, direction[worst] = -1;
      row.visit([&](FeatureId feature, double value) {
        Sums change;
        change.add(static_cast<Value>(size * value), direction.data());
        change.add_to(&weights[to_size(feature) * Sums::size()]);
      });
    }
  }

  FeatureId filler() const { return static_cast<FeatureId>(width_); }

  // The weights that would be returned now.
  const Matrix<Value>& current(std::size_t n_visits) {
    if (lag_.empty()) return weights_;
    mean_ = weights_;
    for (std::size_t j = 0; j < mean_.size(); ++j) mean_[j] -= lag_[j] / static_cast<Value>(n_visits);
    return mean_;
  }

  double step_;
  std::size_t n_classes_, width_;
  const Judges& judges_;
  std::vector<FeatureId> ranks_;  // empty: rows are not copied
  VisitedRows rows_;
  std::optional<VisitedRows> other_rows_;      // for validation, if they are not among the training rows
  Matrix<Value> weights_, lag_, mean_, kept_;  // of the features, and zeros of the filler
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
        products_(n_ * n_, 0),
        scores_(n_ * problem.n_classes, 0),
        moves_(n_ * problem.n_classes, 0.0),
        missed_(average_ ? moves_.size() : 0, 0.0) {
    multiply();
  }

  void prefetch_place(std::size_t) const {}
  void prefetch(std::size_t) const {}

  void score(std::size_t i, typename Classes::Values& scores) const {
    for (std::size_t k = 0; k < scores.size(); ++k) scores[k] = static_cast<double>(scores_[k * n_ + i]);
  }

  void update(std::size_t i, std::size_t truth, std::size_t worst, double missed) {
    const float* product = &products_[i * n_];
    float *up = &scores_[truth * n_], *down = &scores_[worst * n_];
    const auto step = static_cast<float>(step_);
    for (std::size_t b = 0; b < n_; ++b) {
      const float change = step * product[b];
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
      float value;
    };
    constexpr std::uint32_t none = 0xffffffff;
    std::vector<std::uint32_t> last(problem_.rows.n_features(), none);  // entry of each feature
    std::vector<Entry> entries;
    entries.reserve(problem_.rows.n_entries());
    for (std::size_t b = 0; b < n_; ++b) {
      float* own = &products_[b * n_];
      Row row = problem_.rows[b];
      // All rows share the constant.
      const float shared = row.constant == kNoConstant ? 0 : 1;
      std::fill_n(own, b + 1, shared);
      row.constant = kNoConstant;
      row.visit([&](FeatureId feature, double wide) {
        const auto value = static_cast<float>(wide);
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
  std::vector<float> products_;         // (rows, rows)
  std::vector<float> scores_;           // (classes, rows)
  std::vector<double> moves_, missed_;  // (rows, classes): updates by each row
};

}  // namespace hyperbaton
