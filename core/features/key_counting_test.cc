#include "features/key_counting.hh"

#include <map>

#include "base/hash.hh"
#include "testing/testing.hh"

using namespace hyperbaton;

namespace {

// Item i emits some keys; the larger a key's number, the rarer it is.
template <class Emit>
void emit_item(std::size_t i, const Emit& emit) {
  for (std::size_t k = 0; k < 20; ++k) emit(mix((i * 7919 + k * k) % (1 + (i * 31 + k) % 300) + 1));
}

std::vector<std::uint64_t> count(std::size_t n_items, std::uint32_t min_count, std::size_t bytes, unsigned n_threads) {
  return count_keys({n_items, 20 * n_items}, {min_count, bytes, n_threads}, {},
                    [] { return [](std::size_t i, const auto& emit) { emit_item(i, emit); }; });
}

}  // namespace

TEST("frequent keys equal those of plain counting, for any memory limit and number of threads") {
  constexpr std::size_t n_items = 2000;
  std::map<std::uint64_t, std::size_t> counts;
  for (std::size_t i = 0; i < n_items; ++i) emit_item(i, [&](std::uint64_t key) { ++counts[key]; });
  for (const std::uint32_t min_count : {1U, 2U, 4U, 300U}) {
    std::vector<std::uint64_t> expected;
    for (const auto& [key, n] : counts)
      if (n >= min_count) expected.push_back(key);
    CHECK(!expected.empty() && (min_count == 1 || expected.size() < counts.size()));
    // From enough memory for everything down to a sieve that rejects nothing, and rounds.
    for (const std::size_t bytes : {kAnyMemory, std::size_t{1} << 16, std::size_t{1}})
      for (const unsigned n_threads : {1U, 3U}) CHECK(count(n_items, min_count, bytes, n_threads) == expected);
  }
}

TEST("nothing to count has no keys") { CHECK(count(0, 1, kAnyMemory, 2).empty()); }
