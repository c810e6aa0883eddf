#include "phrases/coverage.hh"

#include <random>
#include <vector>

#include "base/size.hh"
#include "testing/testing.hh"

using namespace hyperbaton;

TEST("coverage agrees with a vector of booleans, also across word boundaries") {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    const int n = 1 + static_cast<int>(random() % 100);
    std::vector<std::uint32_t> words(Coverage::n_words(n), 0);
    std::vector<bool> plain(to_size(n), false);
    for (int k = 0; k < 4; ++k) {
      const int begin = static_cast<int>(random() % static_cast<unsigned>(n));
      const int end = std::min(n, begin + 1 + static_cast<int>(random() % 40));
      Coverage::set(words.data(), {begin, end});
      for (int i = begin; i < end; ++i) plain[to_size(i)] = true;
    }
    const Coverage covered(words.data(), n);
    const auto is_covered = [&](int i) { return static_cast<bool>(plain[to_size(i)]); };
    for (int i = 0; i < n; ++i) {
      CHECK(covered[i] == is_covered(i));
      int gap = i, next = i, begin = i;
      while (gap < n && is_covered(gap)) ++gap;
      while (next < n && !is_covered(next)) ++next;
      while (begin > 0 && !is_covered(begin - 1)) --begin;
      CHECK(covered.next_gap(i) == gap);
      CHECK(covered.next_covered(i) == next);
      CHECK(covered.gap_begin(i) == begin);
      for (int end = i + 1; end <= std::min(n, i + 64); ++end) {
        std::uint64_t bits = 0;
        for (int j = i; j < end; ++j) bits |= static_cast<std::uint64_t>(is_covered(j)) << (j - i);
        CHECK(covered.bits({i, end}) == bits);
        CHECK(covered.any({i, end}) == (bits != 0));
        CHECK(covered.all({i, end}) == (gap >= end));
      }
    }
  }
}
