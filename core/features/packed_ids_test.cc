#include "features/packed_ids.hh"

#include "base/hash.hh"
#include "testing/testing.hh"

using namespace hyperbaton;

TEST("numbers of all sizes are unpacked as they were packed, list after list") {
  std::vector<std::uint8_t> packed;
  std::vector<std::vector<std::uint32_t>> lists;
  std::vector<std::size_t> starts;
  for (std::size_t n = 0; n < 40; ++n) {
    auto& list = lists.emplace_back();
    for (std::size_t i = 0; i < n; ++i) list.push_back(static_cast<std::uint32_t>(mix(40 * n + i)) >> (mix(i + n) % 32));
    if (n > 3) list[0] = 0xffffffff, list[1] = 0, list[2] = 255, list[3] = 256;
    starts.push_back(packed.size());
    pack_ids(list, packed);
  }
  packed.shrink_to_fit();  // so that sanitizers detect reads past the end
  for (std::size_t n = 0; n < lists.size(); ++n) {
    std::vector<std::uint32_t> unpacked(n);
    unpack_ids(packed.data() + starts[n], unpacked);
    CHECK(unpacked == lists[n]);
  }
}
