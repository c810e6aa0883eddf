#include "tune/line_search.hh"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace hyperbaton {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::size_t kRows = 4096;  // intervals scored together
constexpr double kThin = 1e-10;      // narrower intervals, relative to their place, are rounding errors
constexpr double kBeyond = 0.1;      // how far into an interval without end, at least

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

void sort_by_slope(const NBestView& nbest, std::span<const double> slopes, std::span<std::uint32_t> order) {
  std::iota(order.begin(), order.end(), 0u);
  for (std::size_t s = 0; s < nbest.n_sentences(); ++s)
    std::sort(order.begin() + nbest.offsets[s], order.begin() + nbest.offsets[s + 1],
              [&](std::uint32_t a, std::uint32_t b) { return slopes[a] != slopes[b] ? slopes[a] < slopes[b] : a < b; });
}

void LineSearch::add_envelope(std::size_t sentence, std::span<const double> scores, std::span<const double> slopes,
                              std::span<const std::uint32_t> order) {
  stack_.clear();
  starts_.clear();
  for (const std::uint32_t c : order) {
    double start = -kInfinity;
    if (!stack_.empty() && slopes[c] == slopes[stack_.back()]) {
      if (scores[c] <= scores[stack_.back()]) continue;
      stack_.pop_back();
      starts_.pop_back();
    }
    while (!stack_.empty()) {
      const std::uint32_t top = stack_.back();
      start = (scores[top] - scores[c]) / (slopes[c] - slopes[top]);
      if (start > starts_.back()) break;
      // The top would be best in no interval: the new line overtakes it before it overtakes the one below.
      stack_.pop_back();
      starts_.pop_back();
      start = -kInfinity;
    }
    if (start == kInfinity) continue;
    stack_.push_back(c);
    starts_.push_back(start);
  }
  const auto first = nbest_.statistics_of(stack_.front());
  for (std::size_t k = 0; k < first.size(); ++k) sums_[k] += first[k];
  for (std::size_t i = 1; i < stack_.size(); ++i)
    changes_.push_back({starts_[i], static_cast<std::uint32_t>(sentence), stack_[i - 1], stack_[i]});
}

void LineSearch::score_intervals() {
  const std::size_t width = nbest_.n_statistics, n = rows_.size() / width, done = interval_.size();
  interval_.resize(done + n);
  objective_(rows_, width, std::span(interval_).subspan(done));
  rows_.clear();
}

BestStep LineSearch::search(std::span<const double> scores, std::span<const double> slopes,
                            std::span<const std::uint32_t> order) {
  const std::size_t width = nbest_.n_statistics;
  changes_.clear();
  ends_.clear();
  interval_.clear();
  rows_.clear();
  sums_.assign(width, 0.0);
  for (std::size_t s = 0; s < nbest_.n_sentences(); ++s)
    add_envelope(s, scores, slopes, order.subspan(nbest_.offsets[s], nbest_.offsets[s + 1] - nbest_.offsets[s]));
  std::sort(changes_.begin(), changes_.end(),
            [](const Change& a, const Change& b) { return a.x != b.x ? a.x < b.x : a.sentence < b.sentence; });

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
    const auto from = nbest_.statistics_of(changes_[i].from), to = nbest_.statistics_of(changes_[i].to);
    for (std::size_t k = 0; k < width; ++k) sums_[k] += to[k] - from[k];
  }
  score_intervals();

  BestStep best{0, -kInfinity, 0, 0};
  double begin = -kInfinity;
  for (std::size_t i = 0; i < ends_.size();) {
    // The step lies inside one interval, never on a corner between two of the same score, where candidates are equal.
    BestStep run{0, interval_[i], begin, begin};
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
