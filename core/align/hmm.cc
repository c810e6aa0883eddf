#include "align/hmm.hh"

#include <algorithm>

#include "base/math.hh"

namespace hyperbaton {

namespace {

// Jumps from or to states less likely than this do not affect the significant digits of a float sum.
constexpr float kNegligibleState = 1e-8f;

// sum[i] += weight * values[i]. Every product of the model has this form, which compilers vectorise without reordering
// sums.
inline void add_scaled(float* __restrict__ sum, const float* __restrict__ values, float weight, int n) {
  for (int i = 0; i < n; ++i) sum[i] += weight * values[i];
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
    float sum = null;
    for (int k = 0; k < n; ++k) sum += posterior[k] = each * emission[k];
    const float inverse = 1 / sum;
    for (int k = 0; k < n; ++k) posterior[k] *= inverse;
    null_posterior_[to_size(j)] = null * inverse;
    logprob += math::log(static_cast<double>(sum));
  }
  return logprob;
}

double ForwardBackward::run(const Observation& seen, const Jumps& jumps, float null_probability) {
  const int n = n_states_ = seen.n_states, m = seen.n_observed;
  posterior_.resize(to_size(n) * to_size(m));
  null_posterior_.resize(to_size(m));
  place_.resize(to_size(n + 1) * to_size(m + 1));
  inverse_.resize(to_size(m));
  totals_.resize(to_size(n + 1));
  jumps.inverse_totals(n, totals_);
  out_.resize(to_size(n + 1));
  reach_.resize(to_size(n + 1));
  ahead_.resize(to_size(n + 1));
  state_.resize(to_size(n));
  const double logprob = forward(seen, jumps, null_probability);
  backward(seen, jumps, null_probability);
  return logprob;
}

double ForwardBackward::forward(const Observation& seen, const Jumps& jumps, float null_probability) {
  const int n = seen.n_states, m = seen.n_observed;
  std::fill_n(place_.begin(), n + 1, 0.0f);
  place_[0] = 1;
  double logprob = 0;
  for (int j = 0; j < m; ++j) {
    const float* before = place_.data() + to_size(j) * to_size(n + 1);
    float* after = place_.data() + to_size(j + 1) * to_size(n + 1);
    float* state = posterior_.data() + to_size(j) * to_size(n);
    const float* emission = seen.emission + to_size(j) * to_size(n);
    const float moving = 1 - null_probability;
    const float from_start = moving * before[0] * totals_[0];
    for (int k = 0; k < n; ++k) state[k] = from_start * jumps.first()[k];
    for (int i = 0; i < n; ++i)
      if (before[i + 1] > kNegligibleState)
        add_scaled(state, jumps.between() - i, moving * before[i + 1] * totals_[to_size(i + 1)], n);
    const float null = null_probability * seen.null_emission[j];
    float sum = after[0] = null * before[0];
    for (int k = 0; k < n; ++k) {
      state[k] *= emission[k];
      after[k + 1] = state[k] + null * before[k + 1];
    }
    for (int k = 0; k < n; ++k) sum += after[k + 1];
    const float inverse = inverse_[to_size(j)] = 1 / sum;
    for (int k = 0; k < n; ++k) state[k] *= inverse;
    for (int place = 0; place <= n; ++place) after[place] *= inverse;
    logprob += math::log(static_cast<double>(sum));
  }
  const float* final_place = place_.data() + to_size(m) * to_size(n + 1);
  end_ = 0;
  for (int place = 0; place <= n; ++place)
    end_ += static_cast<double>(final_place[place]) * totals_[to_size(place)] *
            jumps.last()[place == 0 ? n : n - place + 1] * (1 - null_probability);
  return logprob + math::log(end_);
}

void ForwardBackward::backward(const Observation& seen, const Jumps& jumps, float null_probability) {
  const int n = seen.n_states, m = seen.n_observed;
  between_.assign(to_size(2 * n - 1), 0);
  first_.assign(to_size(n), 0);
  last_.assign(to_size(n + 1), 0);
  leaving_.assign(to_size(n + 1), 0);
  const float moving = 1 - null_probability;
  const float* final_place = place_.data() + to_size(m) * to_size(n + 1);
  // ahead_: p(all words from j on, end | place) / p(all words from j on, end | words before).
  for (int place = 0; place <= n; ++place) {
    const int distance = place == 0 ? n : n - place + 1;
    ahead_[to_size(place)] = static_cast<float>(moving * totals_[to_size(place)] * jumps.last()[distance] / end_);
    const float ended = final_place[place] * ahead_[to_size(place)];
    last_[to_size(distance)] += ended;
    leaving_[to_size(place)] += ended;
  }
  for (int j = m - 1; j >= 0; --j) {
    const float* before = place_.data() + to_size(j) * to_size(n + 1);
    const float* emission = seen.emission + to_size(j) * to_size(n);
    float* posterior = posterior_.data() + to_size(j) * to_size(n);
    const float null = null_probability * seen.null_emission[j] * inverse_[to_size(j)];
    float null_sum = 0;
    for (int place = 0; place <= n; ++place) null_sum += before[place] * ahead_[to_size(place)];
    null_posterior_[to_size(j)] = null * null_sum;
    for (int k = 0; k < n; ++k) {
      posterior[k] *= ahead_[to_size(k + 1)];
      state_[to_size(k)] = emission[k] * ahead_[to_size(k + 1)] * inverse_[to_size(j)];
    }
    // reach_: the part of the next ahead_ that moves to a state now.
    std::fill(reach_.begin(), reach_.begin() + n + 1, 0.0f);
    for (int k = 0; k < n; ++k)
      if (state_[to_size(k)] > kNegligibleState) {
        reach_[0] += jumps.first()[k] * state_[to_size(k)];
        add_scaled(reach_.data() + 1, jumps.between_reversed() - k, state_[to_size(k)], n);
      }
    for (int place = 0; place <= n; ++place) {
      const float move = moving * totals_[to_size(place)];
      out_[to_size(place)] = before[place] * move;
      reach_[to_size(place)] *= move;
      leaving_[to_size(place)] += before[place] * reach_[to_size(place)];
      ahead_[to_size(place)] = reach_[to_size(place)] + null * ahead_[to_size(place)];
    }
    for (int k = 0; k < n; ++k) first_[to_size(k)] += out_[0] * jumps.first()[k] * state_[to_size(k)];
    for (int i = 0; i < n; ++i)
      if (before[i + 1] > kNegligibleState) add_scaled(between_.data() + n - 1 - i, state_.data(), out_[to_size(i + 1)], n);
  }
  for (int d = 1 - n; d < n; ++d) between_[to_size(d + n - 1)] *= jumps.between()[d];
}

}  // namespace hyperbaton
