#include <algorithm>

#include "base/math.hh"
#include "base/size.hh"
#include "learn/mmr_coordinate.hh"

namespace hyperbaton {

namespace {

constexpr std::size_t kKernelScoreChunk = 64;

// Inner products of one row with many: its values are first scattered to a dense vector.
class Spread {
 public:
  explicit Spread(std::size_t width) : values_(width, 0.0) {}
  void put(const Row& row) {
    row.visit([&](FeatureId f, double value) { values_[to_size(f)] = value; });
  }
  void clear(const Row& row) {
    row.visit([&](FeatureId f, double) { values_[to_size(f)] = 0; });
  }
  double product(const Row& row) const { return score_class(row, values_.data(), 1, 0); }

 private:
  std::vector<double> values_;
};

std::vector<double> squared_norms(const Rows& rows) {
  std::vector<double> norms(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) norms[i] = squared_norm(rows[i]);
  return norms;
}

// Keeps Σ_m α_m κ κ of every row; a change of one α adds a column of the kernel matrix.
class KernelInputs {
 public:
  KernelInputs(const ClassMatrix& output, const InputKernel& kernel, const Problem& problem, std::size_t cache_bytes)
      : sums(problem.rows.size(), 0.0),
        output_(output),
        kernel_(kernel),
        problem_(problem),
        norms_(squared_norms(problem.rows)),
        spread_(problem.rows.width()),
        columns_(problem.rows.size()),
        n_free_columns_(cache_bytes / (sizeof(double) * problem.rows.size() + 1)) {}

  double gradient(std::size_t i) const { return sums[i]; }
  double curvature(std::size_t i) const {
    return output_(problem_.label(i), problem_.label(i)) * kernel_(norms_[i], norms_[i], norms_[i]);
  }
  void moved(std::size_t i, double change) {
    const std::vector<double>& values = column(i);
    const std::size_t y = problem_.label(i);
    for (std::size_t j = 0; j < sums.size(); ++j) sums[j] += change * output_(problem_.label(j), y) * values[j];
  }

  std::vector<double> sums;

 private:
  const std::vector<double>& column(std::size_t i) {
    if (!columns_[i].empty()) return columns_[i];
    const bool keeps = n_free_columns_ > 0;
    n_free_columns_ -= keeps;
    std::vector<double>& values = keeps ? columns_[i] : scratch_;
    values.resize(sums.size());
    const Row row = problem_.rows[i];
    spread_.put(row);
    for (std::size_t j = 0; j < values.size(); ++j)
      values[j] = kernel_(spread_.product(problem_.rows[j]), norms_[i], norms_[j]);
    spread_.clear(row);
    return values;
  }

  const ClassMatrix& output_;
  const InputKernel& kernel_;
  const Problem& problem_;
  std::vector<double> norms_;
  Spread spread_;
  std::vector<std::vector<double>> columns_;
  std::vector<double> scratch_;
  std::size_t n_free_columns_;
};

}  // namespace

double InputKernel::operator()(double product, double left_norm, double right_norm) const {
  if (shape == KernelShape::polynomial) return math::pow(gamma * product + shift, degree);
  return math::exp(-gamma * std::max(left_norm + right_norm - 2 * product, 0.0));
}

Trainer kernel_mmr_trainer(const MmrOptions& options, const InputKernel& kernel, std::size_t cache_bytes) {
  return [=](const Problem& problem) {
    KernelInputs inputs(options.output_kernel, kernel, problem, cache_bytes);
    MmrDescent descent(options, problem, inputs);
    Fit fit;
    descent.run(fit);
    double norm = 0, loss = 0;
    for (std::size_t i = 0; i < inputs.sums.size(); ++i) {
      norm += descent.alpha[i] * inputs.sums[i];
      loss += std::max(0.0, 1 - inputs.sums[i]);
    }
    fit.history["gap"] = {norm / 2 + options.cost * loss + descent.dual};
    fit.history["alpha"] = std::move(descent.alpha);
    return fit;
  };
}

std::vector<double> score_kernel(const Rows& rows, const Rows& support, std::span<const double> coefficients,
                                 std::size_t n_classes, const InputKernel& kernel, unsigned n_threads,
                                 const Progress& progress) {
  std::vector<double> scores(rows.size() * n_classes, 0.0);
  const std::vector<double> norms = squared_norms(support);
  parallel_chunks(rows.size(), kKernelScoreChunk, n_threads, progress, [&](std::size_t begin, std::size_t end) {
    Spread spread(rows.width());
    for (std::size_t i = begin; i < end; ++i) {
      const Row row = rows[i];
      const double norm = squared_norm(row);
      spread.put(row);
      for (std::size_t n = 0; n < support.size(); ++n) {
        const double value = kernel(spread.product(support[n]), norm, norms[n]);
        for (std::size_t k = 0; k < n_classes; ++k) scores[i * n_classes + k] += coefficients[n * n_classes + k] * value;
      }
      spread.clear(row);
    }
  });
  return scores;
}

}  // namespace hyperbaton
