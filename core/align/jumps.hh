// How far the hidden Markov model jumps from one state to the next.
//
// The weight of a jump depends on its signed distance alone, with one weight for each near distance and one for each
// range of far ones. From state i (of n) the model goes to state k with probability
//     p(k | i, n) = w(k - i) / Z(i, n),    Z(i, n) = sum over k of w(k - i) + l(n - i)
// or ends with l(n - i) / Z(i, n); the start has weights of its own. Normalising inside the sentence has no closed
// update of w; the one used here never lowers the likelihood (see `update`).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace hyperbaton {

// An index of a vector, from arithmetic with positions.
inline std::size_t at(int index) { return static_cast<std::size_t>(index); }

// Expected counts are sums of whole units, so the order of additions, and with it the number of threads, does not
// matter.
inline constexpr double kCountUnit = 1.0 / (1ull << 32);
inline void add_count(std::uint64_t& sum, double value) {
  std::atomic_ref(sum).fetch_add(static_cast<std::uint64_t>(value / kCountUnit + 0.5), std::memory_order_relaxed);
}
inline double count_value(std::uint64_t sum) { return static_cast<double>(sum) * kCountUnit; }

// Expected counts of the jumps of one sentence pair, or of many. Place 0 is the start, place k+1 is state k.
class JumpCounts {
 public:
  explicit JumpCounts(int max_states);
  // between: by distance, from -(n-1) to n-1; first: by state; last: by distance to the end, 0 not used, to n;
  // leaving: by place, how often it was left for a state or the end.
  void add(int n_states, std::span<const float> between, std::span<const float> first, std::span<const float> last,
           std::span<const float> leaving);
  // All counts in one row, and the inverse: counts of parts of a corpus add up to those of the whole.
  std::vector<std::uint64_t> flat() const;
  void set(std::span<const std::uint64_t> flat);

 private:
  friend class Jumps;
  int max_states_;
  std::vector<std::uint64_t> between_, first_, last_;  // by bucket
  std::vector<std::uint64_t> leaving_;                 // row n, place
};

class Jumps {
 public:
  static int n_buckets();
  static int n_signed_buckets() { return 2 * n_buckets() - 1; }

  explicit Jumps(int max_states);
  // Weights by bucket: between (signed), first, last, one behind the other; far ones out of reach are small.
  Jumps(int max_states, std::span<const float> weights);
  std::vector<float> weights() const;

  int max_states() const { return max_states_; }
  // Weight of a jump by distance; may be read from -(max_states-1) to max_states-1.
  const float* between() const { return between_.data() + max_states_; }
  // The same with the sign turned.
  const float* between_reversed() const { return reversed_.data() + max_states_; }
  const float* first() const { return first_.data(); }  // by state
  const float* last() const { return last_.data(); }    // by distance to the end, from 1
  // 1 / Z for place 0 (the start) to n.
  void inverse_totals(int n_states, std::span<float> inverse) const;

  // New weights from expected counts: w(b) = C(b) / sum over distances d of b and places i that allow d of N(i)/Z(i),
  // with Z of the old weights. Since -log Z is convex in Z, its tangent is a lower bound, which this maximises: each
  // step raises the expected log-likelihood or leaves it.
  void update(const JumpCounts& counts);

 private:
  void expand(std::span<const double> between, std::span<const double> first, std::span<const double> last);
  int max_states_;
  std::vector<float> between_, reversed_, first_, last_;
  std::vector<double> sums_;  // of between up to a distance
  std::vector<double> first_sums_;
};

}  // namespace hyperbaton
