#include "base/matrix.hh"

#include <cstring>

#include "base/math.hh"

namespace hyperbaton {

namespace {

// Four registers of four floats for each row, of 16 registers (32 on arm64).
#define HYPERBATON_KERNEL narrow
#define HYPERBATON_TARGET
#define HYPERBATON_LANE 4
#if defined(__x86_64__)
#define HYPERBATON_ROWS 3
#else
#define HYPERBATON_ROWS 6
#endif
#include "base/matrix_kernel.inc"
#undef HYPERBATON_KERNEL
#undef HYPERBATON_TARGET
#undef HYPERBATON_LANE
#undef HYPERBATON_ROWS

#if defined(__x86_64__)

#define HYPERBATON_KERNEL avx2
#define HYPERBATON_TARGET __attribute__((target("avx2")))
#define HYPERBATON_LANE 8
#define HYPERBATON_ROWS 6
#include "base/matrix_kernel.inc"
#undef HYPERBATON_KERNEL
#undef HYPERBATON_TARGET
#undef HYPERBATON_LANE
#undef HYPERBATON_ROWS

#define HYPERBATON_KERNEL avx512
#define HYPERBATON_TARGET __attribute__((target("avx512f,prefer-vector-width=512")))
#define HYPERBATON_LANE 16
#define HYPERBATON_ROWS 12
#include "base/matrix_kernel.inc"
#undef HYPERBATON_KERNEL
#undef HYPERBATON_TARGET
#undef HYPERBATON_LANE
#undef HYPERBATON_ROWS

#endif

}  // namespace

const std::vector<MatrixKernels>& matrix_kernels() {
  static const std::vector<MatrixKernels> kernels = [] {
    std::vector<MatrixKernels> known{{narrow::add_products, narrow::lstm_step}};
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) known.push_back({avx2::add_products, avx2::lstm_step});
    if (__builtin_cpu_supports("avx512f")) known.push_back({avx512::add_products, avx512::lstm_step});
#endif
    return known;
  }();
  return kernels;
}

void add_products(const Panels& weights, StridedRows<const float> inputs, StridedRows<float> outputs, std::size_t n_rows) {
  matrix_kernels().back().add_products(weights, inputs, outputs, n_rows);
}

void lstm_step(StridedRows<const float> gates, StridedRows<float> cells, StridedRows<float> states, std::size_t size,
               std::size_t n_rows) {
  matrix_kernels().back().lstm_step(gates, cells, states, size, n_rows);
}

}  // namespace hyperbaton
