#include "base/matrix.hh"

#include <cstdint>
#include <cstring>

#include "testing/testing.hh"

namespace hyperbaton {

namespace {

// Pseudo-random numbers between −2 and 2.
std::vector<float> numbers(std::size_t n, std::uint32_t seed) {
  std::vector<float> values(n);
  for (float& value : values) {
    seed = seed * 1664525u + 1013904223u;
    value = static_cast<float>(static_cast<std::int32_t>(seed)) * 0x1p-30f;
  }
  return values;
}

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

}  // namespace

TEST("products are sums in order, for every width of vectors") {
  for (const std::size_t n_rows : {1, 2, 3, 5, 6, 7, 11, 12, 13, 25}) {
    const std::size_t n_outputs = 37, n_inputs = 19;
    Panels panels(n_outputs, n_inputs);
    const auto weights = numbers(n_outputs * n_inputs, 1), inputs = numbers(n_rows * n_inputs, 2);
    for (std::size_t o = 0; o < n_outputs; ++o)
      for (std::size_t i = 0; i < n_inputs; ++i) panels.at(o, i) = weights[o * n_inputs + i];
    const std::size_t width = panels.width();
    auto expected = numbers(n_rows * width, 3);
    const auto start = expected;
    for (std::size_t r = 0; r < n_rows; ++r)
      for (std::size_t o = 0; o < n_outputs; ++o)
        for (std::size_t i = 0; i < n_inputs; ++i)
          expected[r * width + o] += weights[o * n_inputs + i] * inputs[r * n_inputs + i];
    for (const MatrixKernels& kernels : matrix_kernels()) {
      auto outputs = start;
      kernels.add_products(panels, {inputs.data(), n_inputs}, {outputs.data(), width}, n_rows);
      CHECK(same_bits(outputs, expected));
    }
  }
}

TEST("steps of an LSTM have the same bits for every width of vectors") {
  const std::size_t size = 21, n_rows = 5;
  auto gates = numbers(n_rows * 4 * size, 4);
  for (float& gate : gates) gate *= 10;
  gates[0] = 1e9f;
  gates[1] = -1e9f;
  std::vector<std::vector<float>> results;
  for (const MatrixKernels& kernels : matrix_kernels()) {
    auto cells = numbers(n_rows * size, 5), states = numbers(n_rows * size, 6);
    kernels.lstm_step({gates.data(), 4 * size}, {cells.data(), size}, {states.data(), size}, size, n_rows);
    cells.insert(cells.end(), states.begin(), states.end());
    results.push_back(cells);
  }
  for (const auto& result : results) CHECK(same_bits(result, results[0]));
  for (const float state : results[0]) CHECK(state >= -4 && state <= 4);
}

}  // namespace hyperbaton
