#include "base/matrix.hh"

#include <cstring>

#include "base/math.hh"

namespace hyperbaton {

namespace {

// Four registers of four floats for each row, of 16 registers (32 on arm64).
#define HYPERBATON_KERNEL narrow
#define HYPERBATON_TARGET
#if defined(__x86_64__)
#define HYPERBATON_ROWS 3
#else
#define HYPERBATON_ROWS 6
#endif
#include "base/matrix_kernel.inc"
#undef HYPERBATON_KERNEL
#undef HYPERBATON_TARGET
#undef HYPERBATON_ROWS

#if defined(__x86_64__)

#define HYPERBATON_KERNEL avx2
#define HYPERBATON_TARGET __attribute__((target("avx2")))
#define HYPERBATON_ROWS 6
#include "base/matrix_kernel.inc"
#undef HYPERBATON_KERNEL
#undef HYPERBATON_TARGET
#undef HYPERBATON_ROWS

#define HYPERBATON_KERNEL avx512
#define HYPERBATON_TARGET __attribute__((target("avx512f,prefer-vector-width=512")))
#define HYPERBATON_ROWS 12
#include "base/matrix_kernel.inc"
#undef HYPERBATON_KERNEL
#undef HYPERBATON_TARGET
#undef HYPERBATON_ROWS

#endif

struct Kernels {
  decltype(&narrow::add_products) add_products;
  decltype(&narrow::lstm_step) lstm_step;
};

Kernels widest() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return {avx512::add_products, avx512::lstm_step};
  if (__builtin_cpu_supports("avx2")) return {avx2::add_products, avx2::lstm_step};
#endif
  return {narrow::add_products, narrow::lstm_step};
}

const Kernels& kernels() {
  static const Kernels chosen = widest();
  return chosen;
}

}  // namespace

void add_products(const Panels& weights, Rows<const float> inputs, Rows<float> outputs, std::size_t n_rows) {
  kernels().add_products(weights, inputs, outputs, n_rows);
}

void lstm_step(Rows<const float> gates, Rows<float> cells, Rows<float> states, std::size_t size, std::size_t n_rows) {
  kernels().lstm_step(gates, cells, states, size, n_rows);
}

}  // namespace hyperbaton
