// Quantisation: each probability and back-off weight is stored in one byte, the number of a bin of its order.
#pragma once

#include "lm/build.hh"

namespace hyperbaton {

// Unigrams keep their exact values. The values of every other order are sorted and split into n_bins ≤ 256 bins of equal
// size, each represented by its mean; if there are no more distinct values than bins, nothing is lost. A back-off weight
// of zero stays zero.
std::vector<NgramArrays> quantize(const NgramModel& model, std::size_t n_bins);

}  // namespace hyperbaton
