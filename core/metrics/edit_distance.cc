#include "metrics/edit_distance.hh"

#include <algorithm>
#include <numeric>

namespace hyperbaton {

namespace {

// Row j after word i: edits between the first i words of one and the first j of the other.
std::int64_t distance(std::span<const std::uint32_t> from, std::span<const std::uint32_t> to, Poll& poll) {
  std::vector<std::int64_t> row(to.size() + 1);
  std::iota(row.begin(), row.end(), std::int64_t{0});
  for (std::size_t i = 0; i < from.size(); ++i) {
    poll();
    std::int64_t diagonal = row[0];
    row[0] = static_cast<std::int64_t>(i) + 1;
    for (std::size_t j = 0; j < to.size(); ++j) {
      const std::int64_t substituted = diagonal + (from[i] == to[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min(substituted, std::min(row[j], row[j + 1]) + 1);
    }
  }
  return row.back();
}

}  // namespace

std::vector<std::int64_t> edit_distances(const WordsView& hypotheses, const WordsView& references,
                                         std::span<const std::int64_t> line, unsigned n_threads, const Progress& progress) {
  return count_pairs(hypotheses, references, line, kManySentences, n_threads, progress, distance);
}

}  // namespace hyperbaton
