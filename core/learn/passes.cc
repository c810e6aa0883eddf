#include "learn/passes.hh"

#include <algorithm>
#include <cmath>

#include "base/size.hh"

namespace hyperbaton {

namespace {

constexpr std::size_t kRowChunk = std::size_t{1} << 12;
constexpr std::size_t kMaxChunks = 16;
constexpr std::size_t kMaxBufferBytes = std::size_t{1} << 28;

// The number of chunks of rows: each needs a separate gradient, whose zeroing and adding must be worth it.
std::size_t count_chunks(const Rows& rows, std::size_t n_parameters) {
  const std::size_t by_work = rows.n_entries() / (4 * rows.width() + 1024);
  const std::size_t by_memory = kMaxBufferBytes / (n_parameters * sizeof(double) + 1);
  return std::clamp<std::size_t>(std::min(by_work, by_memory), 1, kMaxChunks);
}

double pass_over(const Rows& rows, const PassShape& shape, const double* weights, const RowLoss& loss, std::size_t begin,
                 std::size_t end, std::span<double> gradient) {
  std::vector<double> scores(shape.n_outputs);
  const auto extra = gradient.last(shape.n_extra);
  double total = 0;
  for (std::size_t i = begin; i < end; ++i) {
    const Row row = rows[i];
    score_row(row, weights, scores);
    total += loss(i, scores, extra);
    if (std::any_of(scores.begin(), scores.end(), [](double s) { return s != 0; })) add_row(row, scores, gradient.data());
  }
  return total;
}

}  // namespace

double loss_and_gradient(const Rows& rows, const PassShape& shape, const double* weights, const RowLoss& loss,
                         std::span<double> gradient, unsigned n_threads) {
  const std::size_t n_chunks = count_chunks(rows, gradient.size());
  std::fill(gradient.begin(), gradient.end(), 0.0);
  if (n_chunks == 1) return pass_over(rows, shape, weights, loss, 0, rows.size(), gradient);
  std::vector<std::vector<double>> parts(n_chunks);
  std::vector<double> losses(n_chunks);
  parallel_chunks(n_chunks, 1, n_threads, {}, [&](std::size_t b, std::size_t) {
    parts[b].assign(gradient.size(), 0.0);
    losses[b] =
        pass_over(rows, shape, weights, loss, rows.size() * b / n_chunks, rows.size() * (b + 1) / n_chunks, parts[b]);
  });
  parallel_chunks(gradient.size(), kVectorChunk, n_threads, {}, [&](std::size_t begin, std::size_t end) {
    for (const auto& part : parts)
      for (std::size_t j = begin; j < end; ++j) gradient[j] += part[j];
  });
  double total = 0;
  for (const double one : losses) total += one;
  return total;
}

std::vector<double> score_rows(const Rows& rows, std::span<const double> weights, std::size_t n_outputs, unsigned n_threads,
                               const Progress& progress) {
  std::vector<double> scores(rows.size() * n_outputs);
  parallel_chunks(rows.size(), kRowChunk, n_threads, progress, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i)
      score_row(rows[i], weights.data(), std::span(scores).subspan(i * n_outputs, n_outputs));
  });
  return scores;
}

double sum_over_rows(std::size_t n_rows, unsigned n_threads, const std::function<double(std::size_t)>& value) {
  std::vector<double> sums((n_rows + kRowChunk - 1) / kRowChunk);
  parallel_chunks(n_rows, kRowChunk, n_threads, {}, [&](std::size_t begin, std::size_t end) {
    double sum = 0;
    for (std::size_t i = begin; i < end; ++i) sum += value(i);
    sums[begin / kRowChunk] = sum;
  });
  double total = 0;
  for (const double sum : sums) total += sum;
  return total;
}

std::vector<double> squared_columns(const Rows& rows) {
  std::vector<double> sums(rows.width(), 0.0);
  for (std::size_t i = 0; i < rows.size(); ++i)
    rows[i].visit([&](FeatureId f, double value) { sums[to_size(f)] += value * value; });
  return sums;
}

namespace {

template <class A, class B>
double sum_products(std::span<const A> a, std::span<const B> b, unsigned n_threads) {
  std::vector<double> sums((a.size() + kVectorChunk - 1) / kVectorChunk);
  parallel_chunks(a.size(), kVectorChunk, n_threads, {}, [&](std::size_t begin, std::size_t end) {
    double sum = 0;
    for (std::size_t j = begin; j < end; ++j) sum += static_cast<double>(a[j]) * static_cast<double>(b[j]);
    sums[begin / kVectorChunk] = sum;
  });
  double total = 0;
  for (const double sum : sums) total += sum;
  return total;
}

template <class X>
void add_product(double factor, std::span<const X> x, std::span<double> y, unsigned n_threads) {
  parallel_chunks(x.size(), kVectorChunk, n_threads, {}, [&](std::size_t begin, std::size_t end) {
    for (std::size_t j = begin; j < end; ++j) y[j] += factor * static_cast<double>(x[j]);
  });
}

}  // namespace

double largest(std::span<const double> x) {
  double top = 0;
  for (const double one : x) top = std::max(top, std::abs(one));
  return top;
}

double dot(std::span<const double> a, std::span<const double> b, unsigned n_threads) {
  return sum_products(a, b, n_threads);
}
double dot(std::span<const float> a, std::span<const double> b, unsigned n_threads) {
  return sum_products(a, b, n_threads);
}
double dot(std::span<const float> a, std::span<const float> b, unsigned n_threads) { return sum_products(a, b, n_threads); }

void add_scaled(double factor, std::span<const double> x, std::span<double> y, unsigned n_threads) {
  add_product(factor, x, y, n_threads);
}
void add_scaled(double factor, std::span<const float> x, std::span<double> y, unsigned n_threads) {
  add_product(factor, x, y, n_threads);
}

}  // namespace hyperbaton
