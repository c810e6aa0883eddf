// One pass over all rows: scores, losses and gradients, identical for any number of threads.
//
// The rows are split into chunks whose number depends only on the data. Each chunk sums its loss and gradient separately,
// and the sums are added in the order of the chunks.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "learn/trainer.hh"

namespace hyperbaton {

// Given a row's number and its scores, returns its loss and replaces each score by the derivative of the loss with
// respect to it. `extra` receives derivatives with respect to parameters other than weights (thresholds), if there are
// any.
using RowLoss = std::function<double(std::size_t row, std::span<double> scores, std::span<double> extra)>;

struct PassShape {
  std::size_t n_outputs;  // columns of the weights
  std::size_t n_extra;    // parameters after the weights
};

// Returns Σ loss; gradient (width · n_outputs + n_extra) is overwritten by Σ ∂loss.
double loss_and_gradient(const Rows& rows, const PassShape& shape, const double* weights, const RowLoss& loss,
                         std::span<double> gradient, unsigned n_threads);

// The scores of all rows: (rows, n_outputs).
std::vector<double> score_rows(const Rows& rows, std::span<const double> weights, std::size_t n_outputs, unsigned n_threads,
                               const Progress& progress);

// Σ_i of a value of each row, added in a fixed order.
double sum_over_rows(std::size_t n_rows, unsigned n_threads, const std::function<double(std::size_t)>& value);

// Σ_i x_if² of every feature.
std::vector<double> squared_columns(const Rows& rows);

// max |x|
double largest(std::span<const double> x);
// Σ a · b, in doubles
double dot(std::span<const double> a, std::span<const double> b, unsigned n_threads);
double dot(std::span<const float> a, std::span<const double> b, unsigned n_threads);
double dot(std::span<const float> a, std::span<const float> b, unsigned n_threads);
// y += factor · x
void add_scaled(double factor, std::span<const double> x, std::span<double> y, unsigned n_threads);
void add_scaled(double factor, std::span<const float> x, std::span<double> y, unsigned n_threads);

}  // namespace hyperbaton
