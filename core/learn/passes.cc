#include "learn/passes.hh"

#include <algorithm>
#include <cmath>
#include <numeric>

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

// Σ of n values, chunk by chunk.
template <class Value>
double sum_chunks(std::size_t n, std::size_t chunk, unsigned n_threads, const Value& value) {
  std::vector<double> sums((n + chunk - 1) / chunk);
  parallel_chunks(n, chunk, n_threads, {}, [&](std::size_t begin, std::size_t end) {
    double sum = 0;
    for (std::size_t i = begin; i < end; ++i) sum += value(i);
    sums[begin / chunk] = sum;
  });
  return std::accumulate(sums.begin(), sums.end(), 0.0);
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
  if (n_chunks == 1) {  // many clusters are small
    std::ranges::fill(gradient, 0.0);
    return pass_over(rows, shape, weights, loss, 0, rows.size(), gradient);
  }
  return sum_parts({n_chunks, n_chunks, n_threads}, gradient, {}, [&](std::size_t b, std::span<double> sum, Poll&) {
    return pass_over(rows, shape, weights, loss, rows.size() * b / n_chunks, rows.size() * (b + 1) / n_chunks, sum);
  });
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
  return sum_chunks(n_rows, kRowChunk, n_threads, value);
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
  return sum_chunks(a.size(), kVectorChunk, n_threads,
                    [&](std::size_t j) { return static_cast<double>(a[j]) * static_cast<double>(b[j]); });
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
