// Word edits where moving a run of words costs one edit (TER, Snover et al. 2006).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "metrics/edit_distance.hh"

namespace hyperbaton {

// The edits that turn each hypothesis h into reference `line[h]`: insertions, deletions, substitutions, and shifts of
// runs, found greedily, the best one first. The shifts tried, tie-breaking and the beam around the diagonal follow
// sacreBLEU, which follows Tercom, so the numbers agree.
std::vector<std::int64_t> translation_edits(const WordsView& hypotheses, const WordsView& references,
                                            std::span<const std::int64_t> line, unsigned n_threads,
                                            const Progress& progress);

}  // namespace hyperbaton
