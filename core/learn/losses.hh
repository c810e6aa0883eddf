// The losses of the learners as functions of a row's scores, each with its (sub)gradient.
#pragma once

#include <algorithm>
#include <limits>
#include <span>
#include <vector>

#include "base/math.hh"
#include "learn/passes.hh"
#include "learn/trainer.hh"

namespace hyperbaton {

// A square matrix over classes: margins Δ, or an output kernel.
class ClassMatrix {
 public:
  ClassMatrix(std::vector<double> values, std::size_t n_classes) : values_(std::move(values)), n_(n_classes) {}
  double operator()(std::size_t row, std::size_t column) const { return values_[row * n_ + column]; }
  std::size_t n_classes() const { return n_; }

 private:
  std::vector<double> values_;
  std::size_t n_;
};

// log Σ_k exp(scores[k]) without overflow.
inline double log_sum_exp(std::span<const double> scores) {
  const double top = *std::max_element(scores.begin(), scores.end());
  if (top == -std::numeric_limits<double>::infinity()) return top;
  double sum = 0;
  for (const double score : scores) sum += math::exp(score - top);
  return top + math::log(sum);
}

// Turn scores into probabilities in place; returns log Σ exp.
inline double softmax(std::span<double> scores) {
  const double top = *std::max_element(scores.begin(), scores.end());
  double sum = 0;
  for (double& score : scores) sum += score = math::exp(score - top);
  for (double& score : scores) score /= sum;
  return top + math::log(sum);
}

// The largest Δ(truth, k) + scores[k].
inline double largest_violation(const ClassMatrix& delta, std::size_t truth, std::span<const double> scores) {
  double top = delta(truth, 0) + scores[0];
  for (std::size_t k = 1; k < scores.size(); ++k) top = std::max(top, delta(truth, k) + scores[k]);
  return top;
}
// The class of that maximum; the first one on ties.
inline std::size_t most_violating(const ClassMatrix& delta, std::size_t truth, std::span<const double> scores) {
  std::size_t best = 0;
  for (std::size_t k = 1; k < scores.size(); ++k)
    if (delta(truth, k) + scores[k] > delta(truth, best) + scores[best]) best = k;
  return best;
}

// −log p(y | x), p ∝ prior · exp(score).
RowLoss logistic_loss(const Problem& problem);
// The structured margin loss max_k [Δ(y, k) + s_k] − s_y.
RowLoss margin_loss(const Problem& problem, const ClassMatrix& delta);
// Σ_k max(0, 1 − φ(y, k) s_k), φ = 1 for the true class, else −1: one-vs-rest hinge.
RowLoss hinge_loss(const Problem& problem);
// max(0, 1 − s_y).
RowLoss true_class_loss(const Problem& problem);

}  // namespace hyperbaton
