#include "next_position/remaining_rows.hh"

#include <algorithm>
#include <limits>
#include <vector>

#include "base/errors.hh"
#include "base/math.hh"
#include "base/parallel.hh"
#include "base/size.hh"
#include "next_position/jump_logprobs.hh"

namespace hyperbaton {

namespace {

constexpr std::size_t kSentencesOfRows = 256;

// Normalise one row of scores in place.
void normalise(const Remaining& remaining, std::span<const double> scores, std::span<const double> classes,
               std::span<double> row) {
  std::fill(row.begin(), row.end(), -kInfinity);
  double top = -kInfinity, sum = 0;
  remaining.each([&](int candidate) {
    const auto j = to_size(candidate);
    row[j] = scores[j] + (classes.empty() ? 0 : classes[remaining.class_of(candidate)]);
    top = std::max(top, row[j]);
  });
  remaining.each([&](int candidate) { sum += math::exp(row[to_size(candidate)] - top); });
  const double log_sum = top + math::log(sum);
  remaining.each([&](int candidate) { row[to_size(candidate)] -= log_sum; });
}

}  // namespace

std::vector<std::int64_t> remaining_starts(std::span<const std::int64_t> offsets, const VisitsView& visits) {
  std::vector<std::int64_t> starts{0};
  for (std::size_t s = 0; s + 1 < offsets.size(); ++s)
    starts.push_back(starts.back() + (offsets[s + 1] - offsets[s] + 1) * (visits.offsets[s + 1] - visits.offsets[s] + 1));
  return starts;
}

void remaining_rows(std::span<const std::int64_t> offsets, const VisitsView& visits, std::span<const double> scores,
                    std::span<const double> classes, std::span<double> rows, unsigned n_threads) {
  const auto matrices = jump_starts(offsets), starts = remaining_starts(offsets, visits);
  if (scores.size() != to_size(matrices.back())) throw Error("there must be a matrix of jumps for each sentence");
  if (!classes.empty() && classes.size() != kCandidateClasses)
    throw Error("there must be a weight for each class of candidates");
  if (rows.size() != to_size(starts.back())) throw Error("the output does not match the text");
  parallel_chunks(offsets.size() - 1, kSentencesOfRows, n_threads, {}, [&](std::size_t begin, std::size_t end) {
    std::vector<std::uint32_t> visited;
    for (std::size_t s = begin; s < end; ++s) {
      const int n = static_cast<int>(offsets[s + 1] - offsets[s]);
      const auto side = to_size(n) + 1;
      visited.assign(Coverage::n_words(n), 0);
      auto row = rows.subspan(to_size(starts[s]));
      int current = -1;
      const auto write = [&] {
        const auto from = to_size(matrices[s]) + to_size(current + 1) * side;
        normalise({Coverage(visited.data(), n), n, current}, scores.subspan(from, side), classes, row.first(side));
        row = row.subspan(side);
      };
      write();
      for (auto at = visits.offsets[s]; at < visits.offsets[s + 1]; ++at) {
        current = visits.positions[to_size(at)];
        Coverage::set(visited.data(), {current, current + 1});
        write();
      }
    }
  });
}

}  // namespace hyperbaton
