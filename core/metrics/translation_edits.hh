// Word edits between texts where whole runs of words may move at the price of one edit (TER, Snover et al. 2006).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "metrics/edit_distance.hh"

namespace hyperbaton {

// The edits that turn each hypothesis h into reference `line[h]`: insertions, deletions, substitutions, and shifts of
// runs that are found greedily, the best one first. Which shifts are tried, which of equal ones is taken and the beam
// around the diagonal follow sacreBLEU, which follows Tercom, so that the numbers are theirs.
std::vector<std::int64_t> translation_edits(const WordsView& hypotheses, const WordsView& references,
                                            std::span<const std::int64_t> line, unsigned n_threads,
                                            const Progress& progress);

}  // namespace hyperbaton
