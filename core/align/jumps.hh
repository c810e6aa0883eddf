// Jump distribution of the hidden Markov model of word alignment.
//
// The weight of a jump depends only on its signed distance, with one weight for each near distance and one for each range
// of far distances. From state i (of n) the model goes to state k with probability
//     p(k | i, n) = w(k - i) / Z(i, n),    Z(i, n) = sum over k of w(k - i) + l(n - i)
// or ends with l(n - i) / Z(i, n); the start has separate weights. Because of the normalisation within the sentence, w
// has no closed-form update; the update used here never lowers the likelihood (see `update`).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/size.hh"

namespace hyperbaton {

// Expected counts are sums of integer units, so the order of additions and the number of threads do not matter.
inline constexpr double kCountUnit = 1.0 / (1ull << 32);
inline void add_count(std::uint64_t& sum, double value) {
  std::atomic_ref(sum).fetch_add(static_cast<std::uint64_t>(value / kCountUnit + 0.5), std::memory_order_relaxed);
}
inline double count_value(std::uint64_t sum) { return static_cast<double>(sum) * kCountUnit; }

// Expected jump counts of one or more sentence pairs. Place 0 is the start, place k+1 is state k.
class JumpCounts {
 public:
  explicit JumpCounts(int max_states);
  // between: by distance, from -(n-1) to n-1; first: by state; last: by distance to the end, up to n, 0 unused; leaving:
  // by place, how often it was left for a state or the end.
  void add(int n_states, std::span<const float> between, std::span<const float> first, std::span<const float> last,
           std::span<const float> leaving);

 private:
  friend class Jumps;
  int max_states_;
  std::vector<std::uint64_t> between_, first_, last_;  // by bucket
  std::vector<std::uint64_t> leaving_;                 // row n, place
};

class Jumps {
 public:
  static constexpr int kPadding = 4;  // floats after the weights of jumps, for loops over vectors
  static int n_buckets();
  static int n_signed_buckets() { return 2 * n_buckets() - 1; }

  explicit Jumps(int max_states);
  // Weights by bucket: between (signed), first and last, concatenated; ranges out of reach get small weights.
  Jumps(int max_states, std::span<const float> weights);
  std::vector<float> weights() const;

  int max_states() const { return max_states_; }
  // Weight of a jump by distance; may be read from -(max_states-1) to max_states-1, and kPadding - 1 further.
  const float* between() const { return between_.data() + max_states_; }
  // Weight of a jump by negated distance.
  const float* between_reversed() const { return reversed_.data() + max_states_; }
  const float* first() const { return first_.data(); }  // by state
  const float* last() const { return last_.data(); }    // by distance to the end, from 1
  // 1 / Z for place 0 (the start) to n.
  void inverse_totals(int n_states, std::span<float> inverse) const;

  // New weights from expected counts: w(b) = C(b) / sum over distances d of b and places i that allow d of N(i)/Z(i),
  // with Z of the old weights. Since -log Z is convex in Z, its tangent is a lower bound, which this update maximises: a
  // step never lowers the expected log-likelihood.
  void update(const JumpCounts& counts);

 private:
  void expand(std::span<const double> between, std::span<const double> first, std::span<const double> last);
  int max_states_;
  std::vector<float> between_, reversed_, first_, last_;
  std::vector<double> sums_;  // of between up to a distance
  std::vector<double> first_sums_;
};

}  // namespace hyperbaton
