// A smaller model: each probability and back-off weight becomes one byte, the number of a bin of its order.
#pragma once

#include "lm/build.hh"

namespace hyperbaton {

// The words keep their exact values. The values of every other order are sorted and cut into n_bins ≤ 256 bins of equal
// numbers, each of which stands for its mean; where there are no more different values than bins, nothing is lost. A
// back-off weight of zero stays zero.
std::vector<NgramArrays> quantize(const NgramModel& model, std::size_t n_bins);

}  // namespace hyperbaton
