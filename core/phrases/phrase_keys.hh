// Phrases as 64-bit keys: equal phrases of texts over one vocabulary have equal keys.
#pragma once

#include <vector>

#include "base/parallel.hh"
#include "phrases/inventory.hh"

namespace hyperbaton {

std::vector<std::uint64_t> phrase_keys(TokensView text, SpansView spans, unsigned n_threads);

// Distinct keys, sorted; the first occurrence of each; and the rank of the key of each phrase.
struct NumberedKeys {
  std::vector<std::uint64_t> keys;
  std::vector<std::int64_t> first;
  std::vector<std::uint32_t> numbers;
};
// At most 2^32 - 1 keys, which must be evenly distributed, as hashes of phrases and phrase pairs are.
NumberedKeys number_keys(std::span<const std::uint64_t> keys);

}  // namespace hyperbaton
