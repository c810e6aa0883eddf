#include "tune/mert.hh"

#include <cmath>

#include "base/hash.hh"
#include "tune/line_search.hh"

namespace hyperbaton {

namespace {

// Symmetric about 0 with a bell-shaped density: the sum of four uniform numbers. The same on every machine.
double bell(std::uint64_t seed, std::uint64_t number) {
  double sum = -2;
  for (std::uint64_t i = 0; i < 4; ++i) sum += static_cast<double>(combine(combine(seed, number), i) >> 11) * 0x1p-53;
  return sum;
}

// What all starts share: the features by column, and the order of candidates along each axis.
struct Axes {
  Axes(const NBestView& nbest, std::span<const std::uint32_t> axes, unsigned n_threads)
      : numbers(axes), columns(axes.size() * nbest.n_candidates()), orders(columns.size()), n(nbest.n_candidates()) {
    parallel_blocks(axes.size(), 1, n_threads, {}, [&](std::size_t begin, std::size_t end) {
      for (std::size_t a = begin; a < end; ++a) {
        for (std::size_t c = 0; c < n; ++c) columns[a * n + c] = nbest.features[c * nbest.n_features + axes[a]];
        sort_by_slope(nbest, column(a), std::span(orders).subspan(a * n, n));
      }
    });
  }

  std::span<const double> column(std::size_t a) const { return std::span(columns).subspan(a * n, n); }
  std::span<const std::uint32_t> order(std::size_t a) const { return std::span(orders).subspan(a * n, n); }

  std::span<const std::uint32_t> numbers;
  std::vector<double> columns;
  std::vector<std::uint32_t> orders;
  std::size_t n;
};

class Climber {
 public:
  Climber(const NBestView& nbest, const Objective& objective, const Axes& axes, std::span<double> weights)
      : nbest_(nbest), axes_(axes), search_(nbest, objective), weights_(weights), scores_(nbest.n_candidates()) {
    rescore(weights_, scores_);
    metric_ = search_.evaluate(scores_);
  }

  double metric() const { return metric_; }

  bool along_axis(std::size_t a, double tolerance) {
    direction_.assign(nbest_.n_features, 0.0);
    direction_[axes_.numbers[a]] = 1;
    return climb(axes_.column(a), axes_.order(a), tolerance);
  }

  bool along(std::span<const double> direction, double tolerance) {
    direction_.assign(direction.begin(), direction.end());
    slopes_.resize(scores_.size());
    order_.resize(scores_.size());
    rescore(direction, slopes_);
    sort_by_slope(nbest_, slopes_, order_);
    return climb(slopes_, order_, tolerance);
  }

 private:
  bool climb(std::span<const double> slopes, std::span<const std::uint32_t> order, double tolerance) {
    const BestStep best = search_.search(scores_, slopes, order);
    if (!(best.score > metric_ + tolerance) || !std::isfinite(best.step)) return false;
    moved_.assign(weights_.begin(), weights_.end());
    for (std::size_t f = 0; f < moved_.size(); ++f) moved_[f] += best.step * direction_[f];
    // Scores are made anew from the weights, so that rounding errors neither add up nor count as gains.
    trial_.resize(scores_.size());
    rescore(moved_, trial_);
    const double metric = search_.evaluate(trial_);
    if (!(metric > metric_ + tolerance)) return false;
    std::copy(moved_.begin(), moved_.end(), weights_.begin());
    scores_.swap(trial_);
    metric_ = metric;
    return true;
  }

  void rescore(std::span<const double> weights, std::vector<double>& scores) const {
    for (std::size_t c = 0; c < scores.size(); ++c) {
      const auto features = nbest_.features_of(c);
      double score = 0;
      for (std::size_t f = 0; f < features.size(); ++f) score += weights[f] * features[f];
      scores[c] = score;
    }
  }

  const NBestView& nbest_;
  const Axes& axes_;
  LineSearch search_;
  std::span<double> weights_;
  std::vector<double> scores_, trial_, moved_, direction_, slopes_;
  std::vector<std::uint32_t> order_;
  double metric_ = 0;
};

}  // namespace

Climbed mert(const NBestView& nbest, const Objective& objective, std::span<const double> starts,
             std::span<const std::uint32_t> axes, std::span<const double> scales, const MertOptions& options,
             const Progress& progress) {
  const std::size_t d = nbest.n_features, n_starts = starts.size() / d;
  Climbed climbed{std::vector<double>(starts.begin(), starts.end()), std::vector<double>(n_starts)};
  const Axes shared(nbest, axes, options.n_threads);
  parallel_blocks(n_starts, 1, options.n_threads, progress, [&](std::size_t begin, std::size_t end) {
    std::vector<double> direction(d);
    for (std::size_t start = begin; start < end; ++start) {
      const std::uint64_t seed = combine(options.seed, start);
      std::uint64_t n_drawn = 0;
      Climber climber(nbest, objective, shared, std::span(climbed.weights).subspan(start * d, d));
      for (std::size_t pass = 0; pass < options.max_passes; ++pass) {
        bool gained = false;
        for (std::size_t a = 0; a < axes.size(); ++a) gained |= climber.along_axis(a, options.tolerance);
        for (std::size_t r = 0; r < options.n_directions; ++r) {
          std::fill(direction.begin(), direction.end(), 0.0);
          for (const std::uint32_t f : axes) direction[f] = scales[f] * bell(seed, n_drawn++);
          gained |= climber.along(direction, options.tolerance);
        }
        if (!gained) break;
      }
      climbed.scores[start] = climber.metric();
    }
  });
  return climbed;
}

}  // namespace hyperbaton
