#include "phrases/inventory.hh"

#include <string_view>
#include <vector>

#include "testing/testing.hh"

using namespace hyperbaton;

namespace {

// The words a, ab and ! in the order of their numbers 0, 1, 2.
const std::vector<std::uint8_t> kBytes{'a', 'a', 'b', '!'};
const std::vector<std::int64_t> kByteOffsets{0, 1, 3, 4};

}  // namespace

TEST("phrases are numbered in the byte order of sorted lines, equal phrases with equal numbers") {
  const std::vector<WordId> tokens{0, 1, 2, 0, 0, 1};
  const std::vector<std::int64_t> offsets{0, 4, 6};
  const std::vector<std::uint32_t> sentence{0, 0, 0, 1, 0, 1};
  const std::vector<std::uint16_t> begin{0, 1, 0, 0, 2, 0};
  const std::vector<std::uint8_t> length{1, 1, 2, 2, 1, 1};
  const auto order = byte_order({kBytes, kByteOffsets});
  for (const unsigned n_threads : {1U, 3U}) {
    const auto numbered = number_phrases({tokens, offsets}, order, {sentence, begin, length}, n_threads, {});
    // "! |||" < "a ab |||" < "a |||" < "ab |||": a blank comes before the letters, and the bar after them.
    CHECK(numbered.begins == std::vector<std::uint32_t>({2, 0, 0, 1}));
    CHECK(numbered.lengths == std::vector<std::uint8_t>({1, 2, 1, 1}));
    CHECK(numbered.ids == std::vector<std::uint32_t>({2, 3, 1, 1, 0, 2}));
  }
}

TEST("pairs are distinct and sorted, with their samples in order") {
  const std::vector<std::uint32_t> source{1, 0, 1, 1, 0}, target{2, 0, 1, 2, 0};
  const auto pairs = pair_phrases(source, target, 3, 2, {});
  CHECK(pairs.offsets == std::vector<std::int64_t>({0, 1, 3, 3}));
  CHECK(pairs.targets == std::vector<std::uint32_t>({0, 1, 2}));
  CHECK(pairs.sample_offsets == std::vector<std::int64_t>({0, 2, 3, 5}));
  CHECK(pairs.sample_order == std::vector<std::uint32_t>({1, 4, 2, 0, 3}));
}
