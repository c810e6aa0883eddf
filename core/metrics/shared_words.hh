// Words shared by hypothesis and reference, disambiguated by context (RIBES).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/parallel.hh"
#include "metrics/edit_distance.hh"

namespace hyperbaton {

struct SharedWords {
  std::int64_t matches;     // words that their context identifies on both sides
  std::int64_t concordant;  // pairs of them in the same order on both sides
};

// Of each hypothesis h and reference `line[h]`.
std::vector<SharedWords> count_shared_words(const WordsView& hypotheses, const WordsView& references,
                                            std::span<const std::int64_t> line, unsigned n_threads,
                                            const Progress& progress);

}  // namespace hyperbaton
