#include "align/jumps.hh"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <functional>

#include "base/errors.hh"

namespace hyperbaton {

namespace {

// The first distance of each range; ranges up to 8 contain a single distance.
constexpr std::array kFirstDistance{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16, 24, 40, 80};
constexpr int kBuckets = static_cast<int>(kFirstDistance.size());
constexpr double kSmallestWeight = 1e-7;  // nothing is impossible, so every sentence has a nonzero probability

int bucket(int distance) {
  return static_cast<int>(std::upper_bound(kFirstDistance.begin(), kFirstDistance.end(), distance) -
                          kFirstDistance.begin()) -
         1;
}
int signed_bucket(int distance) { return kBuckets - 1 + (distance < 0 ? -bucket(-distance) : bucket(distance)); }

}  // namespace

JumpCounts::JumpCounts(int max_states)
    : max_states_(max_states),
      between_(to_size(2 * kBuckets - 1), 0),
      first_(to_size(kBuckets), 0),
      last_(to_size(kBuckets), 0),
      leaving_(to_size(max_states + 1) * to_size(max_states + 1), 0) {}

void JumpCounts::add(int n_states, std::span<const float> between, std::span<const float> first,
                     std::span<const float> last, std::span<const float> leaving) {
  std::array<double, 2 * kBuckets - 1> by_bucket{};
  for (int d = 1 - n_states; d < n_states; ++d) by_bucket[to_size(signed_bucket(d))] += between[to_size(d + n_states - 1)];
  for (std::size_t b = 0; b < by_bucket.size(); ++b)
    if (by_bucket[b] > 0) add_count(between_[b], by_bucket[b]);
  for (int i = 0; i < n_states; ++i) add_count(first_[to_size(bucket(i))], first[to_size(i)]);
  for (int d = 1; d <= n_states; ++d) add_count(last_[to_size(bucket(d))], last[to_size(d)]);
  auto* row = leaving_.data() + to_size(n_states) * to_size(max_states_ + 1);
  for (int place = 0; place <= n_states; ++place) add_count(row[place], leaving[to_size(place)]);
}

int Jumps::n_buckets() { return kBuckets; }

Jumps::Jumps(int max_states) : max_states_(max_states) {
  std::array<double, 2 * kBuckets - 1> between;
  std::array<double, kBuckets> first, last;
  between.fill(1);
  first.fill(1);
  last.fill(1);
  expand(between, first, last);
}

Jumps::Jumps(int max_states, std::span<const float> weights) : max_states_(max_states) {
  if (weights.size() != to_size(n_signed_buckets() + 2 * kBuckets))
    throw Error("there must be a weight for each range of jumps");
  const std::vector<double> values(weights.begin(), weights.end());
  const std::span all(values);
  expand(all.subspan(0, to_size(n_signed_buckets())), all.subspan(to_size(n_signed_buckets()), to_size(kBuckets)),
         all.subspan(to_size(n_signed_buckets() + kBuckets), to_size(kBuckets)));
}

std::vector<float> Jumps::weights() const {
  std::vector<float> values(to_size(n_signed_buckets() + 2 * kBuckets), static_cast<float>(kSmallestWeight));
  for (int d = 1 - max_states_; d < max_states_; ++d) values[to_size(signed_bucket(d))] = between()[d];
  for (int i = 0; i < max_states_; ++i) values[to_size(n_signed_buckets() + bucket(i))] = first_[to_size(i)];
  for (int d = 1; d <= max_states_; ++d) values[to_size(n_signed_buckets() + kBuckets + bucket(d))] = last_[to_size(d)];
  return values;
}

void Jumps::expand(std::span<const double> between, std::span<const double> first, std::span<const double> last) {
  between_.assign(to_size(2 * max_states_ + kPadding), 0);
  reversed_.assign(to_size(2 * max_states_ + kPadding), 0);
  sums_.assign(to_size(2 * max_states_ + 2), 0);
  for (int d = -max_states_; d <= max_states_; ++d) {
    // Sums use the weights as they are stored, so a model built from `weights()` is bit-identical.
    const float weight = static_cast<float>(between[to_size(signed_bucket(d))]);
    between_[to_size(max_states_ + d)] = weight;
    reversed_[to_size(max_states_ - d)] = weight;
    sums_[to_size(max_states_ + d + 1)] = sums_[to_size(max_states_ + d)] + weight;
  }
  first_.resize(to_size(max_states_ + 1));
  last_.resize(to_size(max_states_ + 1));
  first_sums_.assign(to_size(max_states_ + 2), 0);
  for (int d = 0; d <= max_states_; ++d) {
    first_[to_size(d)] = static_cast<float>(first[to_size(bucket(d))]);
    last_[to_size(d)] = static_cast<float>(last[to_size(bucket(d))]);
    first_sums_[to_size(d + 1)] = first_sums_[to_size(d)] + first_[to_size(d)];
  }
}

void Jumps::inverse_totals(int n_states, std::span<float> inverse) const {
  inverse[0] = static_cast<float>(1 / (first_sums_[to_size(n_states)] + last_[to_size(n_states)]));
  for (int i = 0; i < n_states; ++i) {
    const double inside = sums_[to_size(max_states_ + n_states - i)] - sums_[to_size(max_states_ - i)];
    inverse[to_size(i + 1)] = static_cast<float>(1 / (inside + last_[to_size(n_states - i)]));
  }
}

void Jumps::update(const JumpCounts& counts) {
  // By distance, the sum of N/Z over the places that allow it, built from differences because each place allows a
  // contiguous range.
  std::vector<double> between_pull(to_size(2 * max_states_ + 2), 0), first_pull(to_size(max_states_ + 2), 0);
  std::vector<double> last_pull(to_size(kBuckets), 0);
  std::vector<float> inverse(to_size(max_states_ + 1));
  for (int n = 1; n <= counts.max_states_; ++n) {
    const auto* row = counts.leaving_.data() + to_size(n) * to_size(counts.max_states_ + 1);
    if (std::all_of(row, row + n + 1, [](std::uint64_t count) { return count == 0; })) continue;
    inverse_totals(n, inverse);
    for (int place = 0; place <= n; ++place) {
      const double pull = count_value(row[place]) * inverse[to_size(place)];
      const int i = place - 1;
      last_pull[to_size(bucket(place == 0 ? n : n - i))] += pull;
      if (place == 0) {
        first_pull[0] += pull;
        first_pull[to_size(n)] -= pull;
      } else {
        between_pull[to_size(max_states_ - i)] += pull;
        between_pull[to_size(max_states_ + n - i)] -= pull;
      }
    }
  }
  std::array<double, 2 * kBuckets - 1> between_total{};
  std::array<double, kBuckets> first_total{};
  double running = 0;
  for (int d = -max_states_; d <= max_states_; ++d)
    between_total[to_size(signed_bucket(d))] += (running += between_pull[to_size(max_states_ + d)]);
  running = 0;
  for (int i = 0; i <= max_states_; ++i) first_total[to_size(bucket(i))] += (running += first_pull[to_size(i)]);

  // A range that no sentence reaches gets the value of the next nearer one. Rounding can leave a pull slightly above
  // zero.
  const auto renew = [](std::uint64_t count, double pull, double nearer) {
    return pull > 1e-9 ? std::max(count_value(count) / pull, kSmallestWeight) : nearer;
  };
  std::array<double, 2 * kBuckets - 1> between;
  std::array<double, kBuckets> first, last;
  const std::size_t zero = to_size(kBuckets - 1);
  between[zero] = renew(counts.between_[zero], between_total[zero], 1);
  for (std::size_t b = 1; b < first.size(); ++b)
    for (const auto side : {zero + b, zero - b})
      between[side] = renew(counts.between_[side], between_total[side], between[side > zero ? side - 1 : side + 1]);
  for (std::size_t b = 0; b < first.size(); ++b) {
    first[b] = renew(counts.first_[b], first_total[b], b == 0 ? 1 : first[b - 1]);
    last[b] = renew(counts.last_[b], last_pull[b], b == 0 ? 1 : last[b - 1]);
  }
  expand(between, first, last);
}

}  // namespace hyperbaton
