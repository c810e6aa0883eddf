// Matrix products and LSTM cells in single precision, bit-identical on every processor.
//
// Each sum starts with the current value of the output and adds its terms in input order, with one rounding for the
// product and one for the sum. Vectors run along the outputs, so their width does not change results: the functions are
// compiled for every vector width of x86-64 processors, and the widest one available is used (matrix_kernel.inc).
#pragma once

#include <cstddef>
#include <vector>

namespace hyperbaton {

// Weights of a linear layer, or any matrix to multiply with. Outputs are grouped in panels of 16, whose weights are
// contiguous, input by input; the last panel is padded with zeros.
class Panels {
 public:
  static constexpr std::size_t kWidth = 16;

  Panels() = default;
  Panels(std::size_t n_outputs, std::size_t n_inputs) { resize(n_outputs, n_inputs); }

  // Set all weights to zero.
  void resize(std::size_t n_outputs, std::size_t n_inputs) {
    n_inputs_ = n_inputs;
    n_panels_ = (n_outputs + kWidth - 1) / kWidth;
    weights_.assign(n_panels_ * kWidth * n_inputs, 0);
  }
  std::size_t n_inputs() const { return n_inputs_; }
  std::size_t n_panels() const { return n_panels_; }
  // Number of outputs, including the padding of the last panel.
  std::size_t width() const { return n_panels_ * kWidth; }
  const float* panel(std::size_t i) const { return weights_.data() + i * kWidth * n_inputs_; }
  float& at(std::size_t output, std::size_t input) {
    return weights_[(output / kWidth * n_inputs_ + input) * kWidth + output % kWidth];
  }

 private:
  std::size_t n_inputs_ = 0, n_panels_ = 0;
  std::vector<float> weights_;
};

// Rows of a matrix, `stride` floats apart.
template <class Float>
struct StridedRows {
  Float* data;
  std::size_t stride;
};

// outputs[r] += weights · inputs[r] for `n_rows` rows; a row of outputs has weights.width() values.
void add_products(const Panels& weights, StridedRows<const float> inputs, StridedRows<float> outputs, std::size_t n_rows);

// One step of an LSTM for `n_rows` rows: `gates` has 4 · size values per row, before the sigmoid: input gate, forget gate,
// new value (tanh), output gate. Updates the cells and the states, which have `size` values per row.
void lstm_step(StridedRows<const float> gates, StridedRows<float> cells, StridedRows<float> states, std::size_t size,
               std::size_t n_rows);

// The two functions for one vector width.
struct MatrixKernels {
  decltype(&hyperbaton::add_products) add_products;
  decltype(&hyperbaton::lstm_step) lstm_step;
};
// The widths that this processor supports, the widest last.
const std::vector<MatrixKernels>& matrix_kernels();

}  // namespace hyperbaton
