// Phrases as 64-bit keys: equal phrases of texts over one vocabulary have equal keys.
#pragma once

#include "base/parallel.hh"
#include "phrases/inventory.hh"

namespace hyperbaton {

std::vector<std::uint64_t> phrase_keys(TokensView text, SpansView spans, unsigned n_threads);

}  // namespace hyperbaton
