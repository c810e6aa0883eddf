#include "base/checksum.hh"

#include "module.hh"

namespace hyperbaton::bindings {

HYPERBATON_BINDINGS(checksum) {
  using namespace nb::literals;

  m.def(
      "checksum",
      [](const Bytes& bytes) {
        const nb::gil_scoped_release release;
        return checksum(view(bytes));
      },
      "bytes"_a, "A checksum of 64 bits.");
}

}  // namespace hyperbaton::bindings
