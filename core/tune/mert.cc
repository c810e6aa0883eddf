#include "tune/mert.hh"

#include <algorithm>
#include <cmath>

#include "base/hash.hh"
#include "tune/line_search.hh"

namespace hyperbaton {

namespace {

// Symmetric about 0 with a bell-shaped density: the sum of four uniform numbers, identical on every machine.
double bell(std::uint64_t seed, std::uint64_t number) {
  double sum = -2;
  for (std::uint64_t i = 0; i < 4; ++i) sum += static_cast<double>(combine(combine(seed, number), i) >> 11) * 0x1p-53;
  return sum;
}

constexpr std::size_t kCandidates = 1024;  // scored together, so that their scores stay in the cache

// The features whose weights may change, by column.
class Columns {
 public:
  Columns(const NBestView& nbest, std::span<const std::uint32_t> axes, unsigned n_threads)
      : axes_(axes), n_(nbest.n_candidates()), values_(axes.size() * n_) {
    parallel_chunks(axes.size(), 1, n_threads, {}, [&](std::size_t begin, std::size_t end) {
      for (std::size_t a = begin; a < end; ++a)
        for (std::size_t c = 0; c < n_; ++c) values_[a * n_ + c] = nbest.features[c * nbest.n_features + axes[a]];
    });
  }

  std::span<const double> operator[](std::size_t a) const { return std::span(values_).subspan(a * n_, n_); }

  // Weighted sums of the columns; `weights` has one for each feature.
  void combine(std::span<const double> weights, std::vector<double>& sums) const {
    sums.assign(n_, 0.0);
    for (std::size_t begin = 0; begin < n_; begin += kCandidates) {
      const std::size_t end = std::min(begin + kCandidates, n_);
      for (std::size_t a = 0; a < axes_.size(); ++a) {
        const double weight = weights[axes_[a]];
        const double* column = values_.data() + a * n_;
        for (std::size_t c = begin; c < end; ++c) sums[c] += weight * column[c];
      }
    }
  }

 private:
  std::span<const std::uint32_t> axes_;
  std::size_t n_;
  std::vector<double> values_;
};

class Climber {
 public:
  Climber(const NBestView& nbest, const Objective& objective, const Columns& columns, std::span<const double> constant,
          std::span<double> weights)
      : columns_(columns), constant_(constant), search_(nbest, objective), weights_(weights) {
    rescore();
  }

  double metric() const { return metric_; }

  // Recompute the scores from the weights, so that rounding errors neither accumulate nor count as gains.
  void rescore() {
    columns_.combine(weights_, scores_);
    for (std::size_t c = 0; c < constant_.size(); ++c) scores_[c] += constant_[c];
    metric_ = search_.evaluate(scores_);
  }

  bool along_axis(std::size_t a, std::uint32_t feature, double tolerance) {
    const double step = climb(columns_[a], tolerance);
    weights_[feature] += step;
    return step != 0;
  }

  bool along(std::span<const double> direction, double tolerance) {
    columns_.combine(direction, slopes_);
    const double step = climb(slopes_, tolerance);
    for (std::size_t f = 0; f < direction.size(); ++f) weights_[f] += step * direction[f];
    return step != 0;
  }

 private:
  // Returns the step taken; 0 if none helps.
  double climb(std::span<const double> slopes, double tolerance) {
    const BestStep best = search_.search(scores_, slopes);
    if (!(best.score > metric_ + tolerance) || !std::isfinite(best.step)) return 0;
    moved_.resize(scores_.size());
    for (std::size_t c = 0; c < moved_.size(); ++c) moved_[c] = scores_[c] + best.step * slopes[c];
    const double metric = search_.evaluate(moved_);
    if (!(metric > metric_ + tolerance)) return 0;
    scores_.swap(moved_);
    metric_ = metric;
    return best.step;
  }

  const Columns& columns_;
  std::span<const double> constant_;
  LineSearch search_;
  std::span<double> weights_;
  std::vector<double> scores_, moved_, slopes_;
  double metric_ = 0;
};

}  // namespace

Climbed mert(const NBestView& nbest, const Objective& objective, std::span<const double> starts,
             std::span<const std::uint32_t> axes, std::span<const double> scales, std::span<const double> constant,
             const MertOptions& options, const Progress& progress) {
  const std::size_t d = nbest.n_features, n_starts = starts.size() / d;
  Climbed climbed{std::vector<double>(starts.begin(), starts.end()), std::vector<double>(n_starts)};
  const Columns columns(nbest, axes, options.n_threads);
  parallel_chunks(n_starts, 1, options.n_threads, progress, [&](std::size_t begin, std::size_t end) {
    std::vector<double> direction(d);
    for (std::size_t start = begin; start < end; ++start) {
      const std::uint64_t seed = combine(options.seed, start);
      std::uint64_t n_drawn = 0;
      std::size_t n_idle = 0;  // axes known not to help at the current weights
      Climber climber(nbest, objective, columns, constant, std::span(climbed.weights).subspan(start * d, d));
      for (std::size_t pass = 0; pass < options.max_passes; ++pass) {
        bool gained = false;
        for (std::size_t a = 0; a < axes.size() && n_idle < axes.size(); ++a) {
          const bool helped = climber.along_axis(a, axes[a], options.tolerance);
          n_idle = helped ? 1 : n_idle + 1;
          gained |= helped;
        }
        for (std::size_t r = 0; r < options.n_directions; ++r) {
          std::fill(direction.begin(), direction.end(), 0.0);
          for (const std::uint32_t f : axes) direction[f] = scales[f] * bell(seed, n_drawn++);
          if (!climber.along(direction, options.tolerance)) continue;
          n_idle = 0;
          gained = true;
        }
        if (!gained) break;
        climber.rescore();
      }
      climbed.scores[start] = climber.metric();
    }
  });
  return climbed;
}

}  // namespace hyperbaton
