#include "tune/line_search.hh"

#include <algorithm>
#include <cmath>

#include "base/math.hh"

namespace hyperbaton {

namespace {

constexpr std::size_t kRows = 4096;  // intervals scored together
constexpr double kThin = 1e-10;      // narrower intervals, relative to their position, are rounding errors
constexpr double kBeyond = 0.1;      // least distance into an unbounded interval

// A step inside (low, high), well away from both ends.
double inside(double low, double high) {
  if (low < 0 && high > 0) return 0;
  if (low == -kInfinity) return high - kBeyond * std::max(1.0, std::abs(high));
  if (high == kInfinity) return low + kBeyond * std::max(1.0, std::abs(low));
  return low + (high - low) / 2;
}

double distance_to_zero(double low, double high) {
  return low < 0 && high > 0 ? 0 : std::min(std::abs(low), std::abs(high));
}

}  // namespace

// Start from the line with the smallest slope. The next line is the one that crosses the current line first among those
// that rise above it. A line that is not above the current one at the first crossing found so far cannot cross it
// earlier, so most lines cost a product and a comparison, and no sorting is needed.
void LineSearch::add_envelope(std::size_t sentence, std::span<const double> scores, std::span<const double> slopes) {
  const std::size_t begin = nbest_.offsets[sentence], end = nbest_.offsets[sentence + 1];
  std::size_t first = begin, last = begin;
  for (std::size_t c = begin + 1; c < end; ++c) {
    if (slopes[c] < slopes[first] || (slopes[c] == slopes[first] && scores[c] > scores[first])) first = c;
    if (slopes[c] > slopes[last] || (slopes[c] == slopes[last] && scores[c] > scores[last])) last = c;
  }
  const auto leftmost = nbest_.statistics_of(first);
  for (std::size_t k = 0; k < leftmost.size(); ++k) sums_[k] += leftmost[k];
  for (std::size_t top = first; slopes[top] != slopes[last];) {
    const double score = scores[top], slope = slopes[top];
    std::size_t next = last;
    double corner = (score - scores[last]) / (slopes[last] - slope), height = score + corner * slope;
    for (std::size_t c = begin; c < end; ++c) {
      if (!(scores[c] + corner * slopes[c] > height)) continue;
      const double rise = slopes[c] - slope, crossing = (score - scores[c]) / rise;
      if (!(rise > 0) || !(crossing < corner)) continue;
      next = c;
      corner = crossing;
      height = score + corner * slope;
    }
    changes_.push_back({corner, static_cast<std::uint32_t>(changes_.size())});
    const auto from = nbest_.statistics_of(top), to = nbest_.statistics_of(next);
    for (std::size_t k = 0; k < to.size(); ++k) differences_.push_back(to[k] - from[k]);
    top = next;
  }
}

void LineSearch::score_intervals() {
  const std::size_t width = nbest_.n_statistics, n = rows_.size() / width, done = interval_.size();
  interval_.resize(done + n);
  objective_(rows_, width, std::span(interval_).subspan(done));
  rows_.clear();
}

BestStep LineSearch::search(std::span<const double> scores, std::span<const double> slopes) {
  const std::size_t width = nbest_.n_statistics;
  changes_.clear();
  differences_.clear();
  ends_.clear();
  interval_.clear();
  rows_.clear();
  sums_.assign(width, 0.0);
  for (std::size_t s = 0; s < nbest_.n_sentences(); ++s) add_envelope(s, scores, slopes);
  std::sort(changes_.begin(), changes_.end(),
            [](const Change& a, const Change& b) { return a.x != b.x ? a.x < b.x : a.number < b.number; });

  double low = -kInfinity;
  for (std::size_t i = 0; i <= changes_.size(); ++i) {
    const double high = i < changes_.size() ? changes_[i].x : kInfinity;
    if (high - low > kThin * std::max(1.0, std::abs(high)) || high == kInfinity) {
      rows_.insert(rows_.end(), sums_.begin(), sums_.end());
      ends_.push_back(high);
      if (rows_.size() == kRows * width) score_intervals();
    }
    low = high;
    if (i == changes_.size()) break;
    const double* difference = &differences_[changes_[i].number * width];
    for (std::size_t k = 0; k < width; ++k) sums_[k] += difference[k];
  }
  score_intervals();

  BestStep best{.step = 0, .score = -kInfinity, .low = 0, .high = 0};
  double begin = -kInfinity;
  for (std::size_t i = 0; i < ends_.size();) {
    // The step lies inside one interval, never on a corner between two with the same score, where candidates tie.
    BestStep run{.step = 0, .score = interval_[i], .low = begin, .high = begin};
    double widest = -1;
    for (; i < ends_.size() && interval_[i] == run.score; run.high = begin = ends_[i++]) {
      const double reach = begin < 0 && ends_[i] > 0 ? kInfinity : ends_[i] - begin;
      if (reach > widest || (begin < 0 && ends_[i] > 0)) {
        widest = reach;
        run.step = inside(begin, ends_[i]);
      }
    }
    const bool nearer = distance_to_zero(run.low, run.high) < distance_to_zero(best.low, best.high);
    if (run.score > best.score || (run.score == best.score && nearer)) best = run;
  }
  return best;
}

double LineSearch::evaluate(std::span<const double> scores) {
  sums_.assign(nbest_.n_statistics, 0.0);
  for (std::size_t s = 0; s < nbest_.n_sentences(); ++s) {
    const auto begin = scores.begin() + nbest_.offsets[s], end = scores.begin() + nbest_.offsets[s + 1];
    const auto chosen = nbest_.statistics_of(std::max_element(begin, end) - scores.begin());
    for (std::size_t k = 0; k < chosen.size(); ++k) sums_[k] += chosen[k];
  }
  double score = 0;
  objective_(sums_, nbest_.n_statistics, std::span(&score, 1));
  return score;
}

}  // namespace hyperbaton
