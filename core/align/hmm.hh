// Posteriors of the hidden Markov model of word alignment (Vogel, Ney and Tillmann 1996; null words as in Och and Ney
// 2003).
//
// Each of the m observed words comes from one of n states (the words of the other sentence) or from the null word.
// The null word leaves the place where the model is, so that the next jump starts from the last true state:
//     p(observed, places) = product over j of  p0 * e0(j)                          from null, place unchanged
//                                              (1 - p0) * p(k | place, n) * e(j, k)  from state k, place becomes k
// times the probability (1 - p0) * p(end | place, n) of stopping.
#pragma once

#include <span>
#include <vector>

#include "align/jumps.hh"

namespace hyperbaton {

// What the model is asked about: emission[j * n_states + k], null_emission[j], all above 0.
struct Observation {
  int n_states, n_observed;
  const float* emission;
  const float* null_emission;
};

// Sums over all ways of one observation; its buffers are kept from one call to the next.
class ForwardBackward {
 public:
  // Returns log p(observed). Posteriors are then in posterior() and null_posterior().
  double run(const Observation& observation, const Jumps& jumps, float null_probability);
  // The same for independent words that prefer no place (IBM model 1).
  double run_model1(const Observation& observation, float null_probability);

  // p(word j comes from state k), at j * n_states + k.
  std::span<const float> posterior() const { return posterior_; }
  std::span<const float> null_posterior() const { return null_posterior_; }
  // Add the expected jumps of the last run().
  void add_jumps(JumpCounts& counts) const { counts.add(n_states_, between_, first_, last_, leaving_); }

 private:
  double forward(const Observation& observation, const Jumps& jumps, float null_probability);
  void backward(const Observation& observation, const Jumps& jumps, float null_probability);

  int n_states_ = 0;
  double end_ = 0;                // probability of stopping, given all words
  std::vector<float> posterior_;  // forward probabilities until the backward pass
  std::vector<float> null_posterior_;
  std::vector<float> place_;    // row j: probability of each place before word j, given the words before
  std::vector<float> inverse_;  // 1 / p(word j | words before)
  std::vector<float> totals_;   // 1 / Z by place
  std::vector<float> out_, reach_, ahead_, state_;
  std::vector<float> between_, first_, last_, leaving_;
};

}  // namespace hyperbaton
