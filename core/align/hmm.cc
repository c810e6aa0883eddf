#include "align/hmm.hh"

#include <algorithm>
#include <cstring>

#include "base/math.hh"

namespace hyperbaton {

namespace {

// States less likely than this do not affect the significant digits of a float sum; without them, products do not become
// denormal, which is slow.
constexpr float kNegligibleState = 1e-8f;
float negligible_as_zero(float value) { return value > kNegligibleState ? value : 0.0f; }

typedef float Lane __attribute__((vector_size(16)));
constexpr int kLane = 4;
static_assert(Jumps::kPadding >= kLane);
Lane load(const float* values) {
  Lane lane;
  std::memcpy(&lane, values, sizeof lane);
  return lane;
}

// sums[k] for k < kLane * L, see convolve; they stay in registers.
template <int L>
void convolve_block(const float* weights, const float* values, int n, float* sums) {
  Lane block[L] = {};
  for (int i = 0; i < n; ++i)
    for (int l = 0; l < L; ++l) block[l] += weights[i] * load(values - i + l * kLane);
  std::memcpy(sums, block, sizeof block);
}

// sums[k] = sum of weights[i] * values[k - i] over i < n, in this order, for k < n. Values are read and sums are written up
// to kLane - 1 places further.
void convolve(const float* weights, const float* values, int n, float* sums) {
  int k = 0;
  for (; n - k > 3 * kLane; k += 4 * kLane) convolve_block<4>(weights, values + k, n, sums + k);
  if (n - k > 2 * kLane) return convolve_block<3>(weights, values + k, n, sums + k);
  if (n - k > kLane) return convolve_block<2>(weights, values + k, n, sums + k);
  if (n - k > 0) convolve_block<1>(weights, values + k, n, sums + k);
}

// The sum over k < n of term(at), where at(values) is values[k], for several k at once.
template <class Term>
float sum_of(int n, const Term& term) {
  Lane parts{};
  int k = 0;
  for (; k + kLane <= n; k += kLane) parts += term([k](const float* values) { return load(values + k); });
  float sum = (parts[0] + parts[1]) + (parts[2] + parts[3]);
  for (; k < n; ++k) sum += term([k](const float* values) { return values[k]; });
  return sum;
}

}  // namespace

double ForwardBackward::run_model1(const Observation& seen, float null_probability) {
  const int n = n_states_ = seen.n_states, m = seen.n_observed;
  posterior_.resize(to_size(n) * to_size(m));
  null_posterior_.resize(to_size(m));
  const float each = (1 - null_probability) / static_cast<float>(n);
  double logprob = 0;
  for (int j = 0; j < m; ++j) {
    const float* emission = seen.emission + to_size(j) * to_size(n);
    float* posterior = posterior_.data() + to_size(j) * to_size(n);
    const float null = null_probability * seen.null_emission[j];
    const float sum = null + each * sum_of(n, [&](auto at) { return at(emission); });
    const float inverse = 1 / sum;
    for (int k = 0; k < n; ++k) posterior[k] = emission[k] * (each * inverse);
    null_posterior_[to_size(j)] = null * inverse;
    logprob += math::log(static_cast<double>(sum));
  }
  return logprob;
}

double ForwardBackward::run(const Observation& seen, const Jumps& jumps, float null_probability) {
  const int n = n_states_ = seen.n_states, m = seen.n_observed;
  moving_ = 1 - null_probability;
  posterior_.resize(to_size(n) * to_size(m));
  null_posterior_.resize(to_size(m));
  place_.resize(to_size(n + 1) * to_size(m + 1));
  moves_.resize(to_size(n) * to_size(m));
  inverse_.resize(to_size(m));
  totals_.resize(to_size(n + 1));
  jumps.inverse_totals(n, totals_);
  weights_.resize(to_size(n));
  reach_.resize(to_size(n + kLane));
  ahead_.resize(to_size(n + 1));
  const double logprob = forward(seen, jumps, null_probability);
  backward(seen, jumps, null_probability);
  return logprob;
}

double ForwardBackward::forward(const Observation& seen, const Jumps& jumps, float null_probability) {
  const int n = seen.n_states, m = seen.n_observed;
  std::fill_n(place_.begin(), n + 1, 0.0f);
  place_[0] = 1;
  double logprob = 0;
  const float *totals = totals_.data(), *first = jumps.first();
  float* __restrict__ weights = weights_.data(), * __restrict__ reach = reach_.data();
  for (int j = 0; j < m; ++j) {
    const float* before = place_.data() + to_size(j) * to_size(n + 1);
    float* __restrict__ after = place_.data() + to_size(j + 1) * to_size(n + 1);
    float* __restrict__ state = posterior_.data() + to_size(j) * to_size(n);
    const float* emission = seen.emission + to_size(j) * to_size(n);
    const float from_start = moving_ * before[0] * totals[0];
    for (int i = 0; i < n; ++i) weights[i] = negligible_as_zero(before[i + 1]) * moving_ * totals[i + 1];
    convolve(weights, jumps.between(), n, reach);
    const float null = null_probability * seen.null_emission[j];
    after[0] = null * before[0];
    for (int k = 0; k < n; ++k) {
      state[k] = (reach[k] + from_start * first[k]) * emission[k];
      after[k + 1] = state[k] + null * before[k + 1];
    }
    const float sum = sum_of(n + 1, [&](auto at) { return at(after); });
    const float inverse = inverse_[to_size(j)] = 1 / sum;
    for (int k = 0; k < n; ++k) state[k] *= inverse;
    for (int place = 0; place <= n; ++place) after[place] *= inverse;
    logprob += math::log(static_cast<double>(sum));
  }
  const float* final_place = place_.data() + to_size(m) * to_size(n + 1);
  end_ = 0;
  for (int place = 0; place <= n; ++place)
    end_ += static_cast<double>(final_place[place]) * totals_[to_size(place)] *
            jumps.last()[place == 0 ? n : n - place + 1] * moving_;
  return logprob + math::log(end_);
}

void ForwardBackward::backward(const Observation& seen, const Jumps& jumps, float null_probability) {
  const int n = seen.n_states, m = seen.n_observed;
  last_.assign(to_size(n + 1), 0);
  leaving_.assign(to_size(n + 1), 0);
  const float* final_place = place_.data() + to_size(m) * to_size(n + 1);
  // ahead: p(all words from j on, end | place) / p(all words from j on, end | words before).
  float* __restrict__ ahead = ahead_.data(), * __restrict__ reach = reach_.data(), * __restrict__ leaving = leaving_.data();
  const float *totals = totals_.data(), *first = jumps.first();
  for (int place = 0; place <= n; ++place) {
    const int distance = place == 0 ? n : n - place + 1;
    ahead[place] = static_cast<float>(moving_ * totals[place] * jumps.last()[distance] / end_);
    const float ended = final_place[place] * ahead[place];
    last_[to_size(distance)] += ended;
    leaving[place] += ended;
  }
  for (int j = m - 1; j >= 0; --j) {
    const float* before = place_.data() + to_size(j) * to_size(n + 1);
    const float* emission = seen.emission + to_size(j) * to_size(n);
    float* __restrict__ posterior = posterior_.data() + to_size(j) * to_size(n);
    float* __restrict__ moves = moves_.data() + to_size(j) * to_size(n);
    const float inverse = inverse_[to_size(j)], null = null_probability * seen.null_emission[j] * inverse;
    null_posterior_[to_size(j)] = null * sum_of(n + 1, [&](auto at) { return at(before) * at(ahead); });
    for (int k = 0; k < n; ++k) {
      posterior[k] *= ahead[k + 1];
      moves[k] = negligible_as_zero(emission[k] * ahead[k + 1] * inverse);
    }
    // reach: the part of the next ahead that moves to a state now, by place.
    convolve(moves, jumps.between_reversed(), n, reach + 1);
    reach[0] = sum_of(n, [&](auto at) { return at(first) * at(moves); });
    for (int place = 0; place <= n; ++place) {
      reach[place] *= moving_ * totals[place];
      leaving[place] += before[place] * reach[place];
      ahead[place] = reach[place] + null * ahead[place];
    }
  }
}

void ForwardBackward::add_jumps(const Jumps& jumps, JumpCounts& counts) {
  const int n = n_states_;
  between_.assign(to_size(2 * n - 1), 0);
  first_.assign(to_size(n), 0);
  for (std::size_t j = 0; j < inverse_.size(); ++j) {
    const float* before = place_.data() + j * to_size(n + 1);
    const float* moves = moves_.data() + j * to_size(n);
    const auto leave = [&](int place) { return before[place] * moving_ * totals_[to_size(place)]; };
    for (int k = 0; k < n; ++k) first_[to_size(k)] += leave(0) * jumps.first()[k] * moves[k];
    for (int i = 0; i < n; ++i) {
      if (before[i + 1] <= kNegligibleState) continue;
      const float weight = leave(i + 1);
      float* between = between_.data() + n - 1 - i;
      for (int k = 0; k < n; ++k) between[k] += weight * moves[k];
    }
  }
  for (int d = 1 - n; d < n; ++d) between_[to_size(d + n - 1)] *= jumps.between()[d];
  counts.add(n, between_, first_, last_, leaving_);
}

}  // namespace hyperbaton
