#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "testing/testing.hh"

#if defined(__linux__) && !defined(__SANITIZE_ADDRESS__)

namespace {

bool on_border(const void* memory) { return reinterpret_cast<std::uintptr_t>(memory) % (std::uintptr_t{1} << 21) == 0; }

}  // namespace

TEST("large arrays start at the border of a large page") {
  const std::vector<double> values(1'000'000, 0.5);
  const auto bytes = std::make_unique<std::byte[]>(std::size_t{5} << 20);
  CHECK(on_border(values.data()));
  CHECK(on_border(bytes.get()));
  CHECK(values.back() == 0.5);
}

TEST("allocating more memory than exists is an error") {
  CHECK_THROWS(std::vector<std::byte>(std::size_t{1} << 60), "bad_alloc");
}

#endif
