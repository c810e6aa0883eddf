// Exact line search for the best step along one direction (Och 2003, section 5).
//
// Along w + x v the model score of a candidate is a line in x, and the best candidate of a sentence follows the upper
// envelope of its lines. Where the best candidate of any sentence changes, the sums of statistics change; between two such
// points the metric is constant. Visiting all intervals from left to right finds the best of them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tune/nbest.hh"
#include "tune/objective.hh"

namespace hyperbaton {

// Steps between `low` and `high` have this score; `step` is 0 if the interval contains 0, otherwise the midpoint of the
// widest interval without a corner.
struct BestStep {
  double step;
  double score;
  double low, high;
};

class LineSearch {
 public:
  LineSearch(const NBestView& nbest, const Objective& objective) : nbest_(nbest), objective_(objective) {}

  // Find the best step. `scores` are the model scores of all candidates at x = 0, `slopes` their change with x. Adjacent
  // intervals that tie are joined; other ties go to the interval nearest 0.
  BestStep search(std::span<const double> scores, std::span<const double> slopes);

  // The metric of the best candidates under these scores; ties go to the first.
  double evaluate(std::span<const double> scores);

 private:
  struct Change {  // at x, the best candidate of some sentence changes
    double x;
    std::uint32_t number;  // of its row of differences
  };

  void add_envelope(std::size_t sentence, std::span<const double> scores, std::span<const double> slopes);
  void score_intervals();

  NBestView nbest_;
  const Objective& objective_;
  std::vector<Change> changes_;
  std::vector<double> differences_;      // of statistics, a row for each change in order of discovery
  std::vector<double> sums_;             // of the leftmost interval, then of the one being visited
  std::vector<double> rows_;             // sums of intervals not scored yet
  std::vector<double> ends_, interval_;  // right ends of intervals, and their scores
};

}  // namespace hyperbaton
