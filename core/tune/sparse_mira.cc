#include "tune/sparse_mira.hh"

#include <algorithm>
#include <limits>

#include "base/errors.hh"
#include "base/slices.hh"

namespace hyperbaton {

namespace {

struct Difference {
  std::size_t column;
  double value;
};

double dot(const SparseRows& rows, std::size_t row, std::span<const double> weights) {
  double sum = 0;
  for (auto at = rows.offsets[row]; at < rows.offsets[row + 1]; ++at) sum += rows.values[at] * weights[rows.columns[at]];
  return sum;
}

// The difference of two rows, columns increasing.
void subtract(const SparseRows& rows, std::size_t row, std::size_t other, std::vector<Difference>& differences) {
  constexpr auto kBehind = std::numeric_limits<std::int32_t>::max();
  differences.clear();
  auto a = rows.offsets[row], b = rows.offsets[other];
  const auto a_end = rows.offsets[row + 1], b_end = rows.offsets[other + 1];
  while (a < a_end || b < b_end) {
    const auto a_column = a < a_end ? rows.columns[a] : kBehind, b_column = b < b_end ? rows.columns[b] : kBehind;
    const auto column = std::min(a_column, b_column);
    const double of_a = a_column == column ? rows.values[a++] : 0.0;
    const double of_b = b_column == column ? rows.values[b++] : 0.0;
    differences.push_back({to_size(column), of_a - of_b});
  }
}

}  // namespace

void SparseRows::check() const {
  if (!are_offsets(offsets, columns.size()) || values.size() != columns.size())
    throw Error("the rows of the candidates do not match");
  for (std::size_t row = 0; row < n_rows(); ++row)
    for (auto at = offsets[row]; at < offsets[row + 1]; ++at)
      if (columns[at] < 0 || to_size(columns[at]) >= n_columns || (at > offsets[row] && columns[at] <= columns[at - 1]))
        throw Error("the columns of a row must increase");
}

void SparseMiraInput::check() const {
  rows.check();
  if (!are_offsets(lists, rows.n_rows()) || gains.size() != rows.n_rows() || start.size() != rows.n_columns)
    throw Error("MIRA needs a gain for each candidate and a weight for each feature");
  const std::size_t n = lists.size() - 1;
  if (n == 0 || orders.size() % n != 0 || std::ranges::any_of(orders, [&](std::uint32_t s) { return s >= n; }))
    throw Error("MIRA needs an order of the sentences for each pass");
  for (std::size_t s = 0; s < n; ++s)
    if (lists[s] == lists[s + 1]) throw Error("MIRA needs a candidate for each sentence");
}

std::vector<double> sparse_mira(const SparseMiraInput& input, const Progress& progress) {
  input.check();
  const auto& [rows, lists, gains, start, orders, max_step] = input;
  const std::size_t n = lists.size() - 1, n_passes = orders.size() / n;
  std::vector<double> weights(start.begin(), start.end()), sum(rows.n_columns, 0.0), averages;
  averages.reserve(n_passes * rows.n_columns);
  std::vector<Difference> differences;
  for (std::size_t pass = 0; pass < n_passes; ++pass) {
    for (const auto s : orders.subspan(pass * n, n)) {
      std::size_t hope = 0, fear = 0;
      double hope_score = 0, fear_score = 0;
      double best_hope = -std::numeric_limits<double>::infinity(), best_fear = best_hope;
      for (auto c = to_size(lists[s]); c < to_size(lists[s + 1]); ++c) {
        const double model = dot(rows, c, weights);
        if (model + gains[c] > best_hope) best_hope = model + gains[c], hope = c, hope_score = model;
        if (model - gains[c] > best_fear) best_fear = model - gains[c], fear = c, fear_score = model;
      }
      const double loss = gains[hope] - gains[fear] - hope_score + fear_score;
      if (loss > 0) {
        subtract(rows, hope, fear, differences);
        double norm = 0;
        for (const auto& each : differences) norm += each.value * each.value;
        if (norm > 0) {
          const double step = std::min(max_step, loss / norm);
          for (const auto& each : differences) weights[each.column] += step * each.value;
        }
      }
      for (std::size_t f = 0; f < sum.size(); ++f) sum[f] += weights[f];
    }
    const auto n_visits = static_cast<double>((pass + 1) * n);
    for (const double value : sum) averages.push_back(value / n_visits);
    if (progress && !progress(pass + 1, n_passes)) throw Cancelled();
  }
  return averages;
}

}  // namespace hyperbaton
