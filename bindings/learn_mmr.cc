#include "learn.hh"
#include "learn/mmr.hh"

namespace hyperbaton::bindings {

HYPERBATON_BINDINGS(learn_mmr) {
  using namespace nb::literals;
  nb::class_<InputKernel>(m, "InputKernel", "A kernel between rows.")
      .def(
          "__init__",
          [](InputKernel* self, const std::string& shape, double gamma, double shift, double degree) {
            const KernelShape known = shape == "polynomial" ? KernelShape::polynomial
                                      : shape == "gaussian" ? KernelShape::gaussian
                                                            : throw Error("there is no kernel " + shape);
            new (self) InputKernel{.shape = known, .gamma = gamma, .shift = shift, .degree = degree};
          },
          nb::kw_only(), "shape"_a, "gamma"_a, "shift"_a, "degree"_a);
  m.def(
      "mmr_trainer",
      [](const Array2<double>& output_kernel, double cost, std::size_t max_passes, double tolerance) {
        return BoundTrainer{mmr_trainer({.output_kernel = class_matrix(output_kernel),
                                         .cost = cost,
                                         .max_passes = max_passes,
                                         .tolerance = tolerance})};
      },
      nb::kw_only(), "output_kernel"_a, "cost"_a, "max_passes"_a, "tolerance"_a);
  m.def(
      "kernel_mmr_trainer",
      [](const InputKernel& kernel, const Array2<double>& output_kernel, double cost, std::size_t max_passes,
         double tolerance, std::size_t cache_bytes) {
        return BoundTrainer{kernel_mmr_trainer(
            {.output_kernel = class_matrix(output_kernel), .cost = cost, .max_passes = max_passes, .tolerance = tolerance},
            kernel, cache_bytes)};
      },
      nb::kw_only(), "kernel"_a, "output_kernel"_a, "cost"_a, "max_passes"_a, "tolerance"_a, "cache_bytes"_a);
  m.def(
      "score_kernel",
      [](const Rows& rows, const Rows& support, const Array2<double>& coefficients, const InputKernel& kernel,
         unsigned n_threads, const Progress& progress) {
        if (coefficients.shape(0) != support.size() || rows.width() != support.width())
          throw Error("support rows, coefficients and rows do not match");
        return to_numpy(without_gil([&] {
                          return score_kernel(rows, support, view(coefficients), coefficients.shape(1), kernel, n_threads,
                                              progress);
                        }),
                        coefficients.shape(1));
      },
      "rows"_a, "support"_a, "coefficients"_a, nb::kw_only(), "kernel"_a, "n_threads"_a, "progress"_a.none(),
      "Scores (rows, classes) by a kernel.");
}

}  // namespace hyperbaton::bindings
