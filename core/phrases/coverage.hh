// Coverage: which source words of a hypothesis are translated, as a bit vector of 32-bit words, for sentences of any
// length.
#pragma once

#include <bit>
#include <cstdint>
#include <span>

#include "base/size.hh"
#include "phrases/orientation.hh"

namespace hyperbaton {

class Coverage {
 public:
  Coverage(const std::uint32_t* words, int n_positions) : words_(words), n_(n_positions) {}
  static std::size_t n_words(int n_positions) { return (to_size(n_positions) + 31) / 32; }
  static void set(std::uint32_t* words, SourceSpan span) {
    for (int i = span.begin; i < span.end; ++i) words[i / 32] |= 1U << (i % 32);
  }

  std::span<const std::uint32_t> words() const { return {words_, n_words(n_)}; }
  bool operator[](int i) const { return (words_[i / 32] >> (i % 32)) & 1; }
  // The bits of a span of at most 64 positions, the first lowest.
  std::uint64_t bits(SourceSpan span) const {
    std::uint64_t bits = 0;
    for (int i = span.begin; i < span.end; i = (i / 32 + 1) * 32)
      bits |= static_cast<std::uint64_t>(words_[i / 32] >> (i % 32)) << (i - span.begin);
    const int n = span.end - span.begin;
    return n < 64 ? bits & ((std::uint64_t{1} << n) - 1) : bits;
  }
  // The first uncovered, or covered, position at or after `from`; the sentence's length if there is none.
  int next_gap(int from) const { return next(from, 0); }
  int next_covered(int from) const { return next(from, ~0U); }
  // One past the last covered position before `from`.
  int gap_begin(int from) const {
    for (int end = from; end > 0; end = (end - 1) / 32 * 32)
      if (const std::uint32_t covered = words_[(end - 1) / 32] << ((32 - end % 32) % 32))
        return end - std::countl_zero(covered);
    return 0;
  }
  int count(SourceSpan span) const {
    int n = 0;
    for (int i = span.begin; i < span.end; i += 64) n += std::popcount(bits({i, i + 64 < span.end ? i + 64 : span.end}));
    return n;
  }
  bool all(SourceSpan span) const { return next_gap(span.begin) >= span.end; }
  bool any(SourceSpan span) const { return next_covered(span.begin) < span.end; }

 private:
  int next(int from, std::uint32_t wanted) const {
    for (int i = from; i < n_;) {
      // Zero bits of the mixed word are of the kind that is skipped.
      const std::uint32_t mixed = (wanted ? words_[i / 32] : ~words_[i / 32]) >> (i % 32);
      if (mixed) {
        const int position = i + std::countr_zero(mixed);
        return position < n_ ? position : n_;
      }
      i = (i / 32 + 1) * 32;
    }
    return n_;
  }

  const std::uint32_t* words_;
  int n_;
};

}  // namespace hyperbaton
