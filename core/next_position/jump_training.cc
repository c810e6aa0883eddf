#include "next_position/jump_training.hh"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

#include "learn/passes.hh"
#include "learn/random.hh"

namespace hyperbaton {

namespace {

struct GradientStep {
  double size;
  double variance;  // σ² of the Gaussian prior
};

// Calls use(f) for each feature of a sentence, as often as it occurs.
template <class Use>
void each_feature(const SentenceLists& lists, std::size_t first_class, const Use& use) {
  for (std::size_t f = 0; f < kJumpConstants; ++f) use(f);
  if (first_class != 0)
    for (std::size_t c = 0; c < kCandidateClasses; ++c) use(first_class + c);
  for (std::size_t at = 0; at < lists.n_ids; ++at) use(lists.ids[at]);
}

// The number of sentences in which each feature occurs.
std::vector<std::atomic<std::uint32_t>> count_sentences(const JumpObjective& objective, const Progress& progress) {
  const std::size_t n = objective.sentences().size(), n_features = objective.n_parameters() / objective.planes();
  std::vector<std::atomic<std::uint32_t>> counts(n_features);
  const auto count = [&](std::size_t begin, std::size_t end, Poll& poll) {
    std::vector<std::uint32_t> seen(n_features, 0);
    JumpObjective::Scratch scratch;
    for (std::size_t place = begin; place < end; ++place) {
      const auto now = static_cast<std::uint32_t>(place - begin + 1);
      each_feature(objective.lists_of(place, scratch), objective.candidates().first_class, [&](std::size_t f) {
        if (std::exchange(seen[f], now) != now) counts[f].fetch_add(1, std::memory_order_relaxed);
      });
      poll();
    }
  };
  parallel_chunks(n, n / std::max(objective.n_threads(), 1u) + 1, objective.n_threads(), progress, count);
  return counts;
}

// AdaGrad on sentences. What it knows of a feature is in one place, so that a sentence fetches it from memory once; single
// precision is enough for steps that follow one sentence.
template <std::size_t Planes>
class Adagrad {
 public:
  Adagrad(const JumpObjective& objective, const GradientStep& step, std::span<const std::atomic<std::uint32_t>> n_sentences)
      : objective_(objective), step_(static_cast<float>(step.size)), scores_(objective.candidates()) {
    features_.reserve(n_sentences.size());
    for (const auto& n : n_sentences)
      features_.emplace_back(static_cast<float>(1 / (step.variance * n.load(std::memory_order_relaxed))));
  }

  double visit(std::size_t place) {
    const SentenceLists lists = objective_.lists_of(place, scratch_);
    const auto weights_of = [&](std::size_t f) { return features_[f].weights.data(); };
    scores_.score(lists, weights_of, scratch_.next);
    const double loss = scores_.loss(scratch_.next, weights_of);
    scores_.add_gradient(lists, [&](std::size_t f) { return features_[f].gradient.data(); }, scratch_.next);
    ++n_visits_;
    each_feature(lists, objective_.candidates().first_class, [&](std::size_t f) { update(features_[f]); });
    return loss;
  }

  double weight(std::size_t parameter) const { return features_[parameter / Planes].weights[parameter % Planes]; }
  // Confidence in a weight: the root of the sum of its squared derivatives.
  double share(std::size_t parameter) const {
    return std::sqrt(static_cast<double>(features_[parameter / Planes].squares[parameter % Planes]));
  }
  std::vector<double> weights() const {
    std::vector<double> all(Planes * features_.size());
    for (std::size_t p = 0; p < all.size(); ++p) all[p] = weight(p);
    return all;
  }

 private:
  struct Feature {
    explicit Feature(float own_shrink) : shrink(own_shrink) { squares.fill(1e-8F); }
    std::array<float, Planes> weights{}, gradient{}, squares;
    float shrink;               // 1 / (σ² · number of sentences in which it occurs)
    std::uint32_t updated = 0;  // the last visit that updated it
  };

  void update(Feature& feature) {
    if (std::exchange(feature.updated, n_visits_) == n_visits_) return;
    for (std::size_t p = 0; p < Planes; ++p) {
      const float g = feature.gradient[p] + feature.shrink * feature.weights[p];
      feature.squares[p] += g * g;
      feature.weights[p] -= step_ * g / std::sqrt(feature.squares[p]);
      feature.gradient[p] = 0;
    }
  }

  const JumpObjective& objective_;
  const float step_;
  JumpObjective::Scratch scratch_;
  JumpScores<Planes> scores_;
  std::vector<Feature> features_;
  std::uint32_t n_visits_ = 0;
};

template <std::size_t Planes>
Minimum run_adagrad(const JumpObjective& objective, const AdagradOptions& options, const Progress& progress) {
  constexpr std::size_t kReport = 256;
  Adagrad<Planes> adagrad(objective, {options.step, options.variance}, count_sentences(objective, {}));
  std::vector<std::uint32_t> order(objective.sentences().size());
  std::iota(order.begin(), order.end(), 0u);
  Random random(options.seed);
  Minimum minimum;
  for (std::size_t pass = 0; pass < options.max_passes; ++pass) {
    random.shuffle(std::span(order));
    double loss = 0;
    for (std::size_t t = 0; t < order.size(); ++t) {
      if (t % kReport == 0 && progress && !progress(pass * order.size() + t, options.max_passes * order.size()))
        throw Cancelled();
      loss += adagrad.visit(order[t]);
    }
    const std::vector<double> w = adagrad.weights();
    minimum.objective.push_back(loss + dot(w, w, objective.n_threads()) / (2 * options.variance));
  }
  minimum.x = objective.in_our_order(adagrad.weights());
  return minimum;
}

// Few enough parts that each is large enough to learn from, and that all together take no more memory than L-BFGS.
std::size_t n_parts(const JumpObjective& objective) {
  constexpr std::size_t kSentences = 20000, kBytes = std::size_t{4} << 30, kMost = 16;
  const std::size_t by_memory = kBytes / (3 * sizeof(double) * objective.n_parameters());
  return std::clamp<std::size_t>(std::min(objective.sentences().size() / kSentences, by_memory), 1, kMost);
}

template <std::size_t Planes>
WarmStart run_warm_start(const JumpObjective& objective, std::size_t n_passes, double variance, const Progress& progress) {
  // The scores of SEQUENCE add up many more weights, so each must move less.
  const GradientStep step{Planes == 1 ? 0.1 : 0.03, variance};
  const std::size_t n = objective.sentences().size(), parts = n_parts(objective);
  const auto n_sentences = count_sentences(objective, {});
  WarmStart sum{std::vector<double>(objective.n_parameters()), std::vector<double>(objective.n_parameters())};
  // A few parts at a time; they are added in order.
  const std::size_t together = std::max(1u, objective.n_threads());
  for (std::size_t first = 0; first < parts; first += together) {
    std::vector<std::optional<Adagrad<Planes>>> learned(std::min(together, parts - first));
    const Progress report = [&](std::size_t done, std::size_t) { return !progress || progress(first + done, parts); };
    parallel_chunks(learned.size(), 1, objective.n_threads(), report, [&](std::size_t at, std::size_t, Poll& poll) {
      auto& own = learned[at].emplace(objective, step, n_sentences);
      const std::size_t begin = (first + at) * n / parts, end = (first + at + 1) * n / parts;
      // Forward, then backward: in the same order again, the last sentences would dominate twice.
      for (std::size_t pass = 0; pass < n_passes; ++pass)
        for (std::size_t t = begin; t < end; ++t) {
          own.visit(pass % 2 == 0 ? t : end - 1 - (t - begin));
          poll.check();
        }
    });
    parallel_chunks(sum.weighted.size(), kVectorChunk, objective.n_threads(), {}, [&](std::size_t begin, std::size_t end) {
      for (const auto& own : learned)
        for (std::size_t p = begin; p < end; ++p) {
          const double share = own->share(p);
          sum.weighted[p] += own->weight(p) * share;
          sum.shares[p] += share;
        }
    });
  }
  return {objective.in_our_order(sum.weighted), objective.in_our_order(sum.shares)};
}

}  // namespace

Minimum adagrad_jumps(const JumpObjective& objective, const AdagradOptions& options, const Progress& progress) {
  return objective.planes() == 1 ? run_adagrad<1>(objective, options, progress)
                                 : run_adagrad<3>(objective, options, progress);
}

WarmStart warm_start(const JumpObjective& objective, std::size_t n_passes, double variance, const Progress& progress) {
  return objective.planes() == 1 ? run_warm_start<1>(objective, n_passes, variance, progress)
                                 : run_warm_start<3>(objective, n_passes, variance, progress);
}

}  // namespace hyperbaton
