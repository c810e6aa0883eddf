#include "next_position/jump_training.hh"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "learn/passes.hh"
#include "learn/random.hh"

namespace hyperbaton {

namespace {

struct GradientStep {
  double size;
  double variance;  // σ² of the Gaussian prior
};

// Calls use(f) for each feature of a sentence once.
class Touched {
 public:
  explicit Touched(const JumpObjective& objective)
      : first_class_(objective.candidates().first_class), seen_(objective.n_parameters() / objective.planes(), 0) {}

  template <class Use>
  void each(const SentenceLists& lists, const Use& use) {
    ++n_visits_;
    const auto touch = [&](std::size_t f) {
      if (seen_[f] == n_visits_) return;
      seen_[f] = n_visits_;
      use(f);
    };
    for (std::size_t f = 0; f < kJumpConstants; ++f) touch(f);
    if (first_class_ != 0)
      for (std::size_t c = 0; c < kCandidateClasses; ++c) touch(first_class_ + c);
    for (std::size_t at = 0; at < lists.n_ids; ++at) touch(lists.ids[at]);
  }

 private:
  std::size_t first_class_;
  std::vector<std::uint32_t> seen_;
  std::uint32_t n_visits_ = 0;
};

// The number of sentences in which each feature occurs.
std::vector<std::uint32_t> count_sentences(const JumpObjective& objective) {
  std::vector<std::uint32_t> counts(objective.n_parameters() / objective.planes(), 0);
  Touched touched(objective);
  JumpObjective::Scratch scratch;
  for (std::size_t place = 0; place < objective.sentences().size(); ++place)
    touched.each(objective.lists_of(place, scratch), [&](std::size_t f) { ++counts[f]; });
  return counts;
}

template <std::size_t Planes>
class Adagrad {
 public:
  Adagrad(const JumpObjective& objective, const GradientStep& step, const std::vector<std::uint32_t>& n_sentences)
      : objective_(objective),
        step_(step),
        n_sentences_(n_sentences),
        scores_(objective.candidates()),
        touched_(objective),
        weights_(objective.n_parameters()),
        gradient_(objective.n_parameters()),
        squares_(objective.n_parameters(), 1e-8) {}

  double visit(std::size_t place) {
    const SentenceLists lists = objective_.lists_of(place, scratch_);
    scores_.score(lists, weights_.data(), scratch_.next);
    const double loss = scores_.loss(scratch_.next, weights_.data());
    scores_.add_gradient(lists, gradient_, scratch_.next);
    touched_.each(lists, [&](std::size_t f) {
      const double shrink = 1 / (step_.variance * n_sentences_[f]);
      for (std::size_t p = Planes * f; p < Planes * (f + 1); ++p) {
        const double g = gradient_[p] + shrink * weights_[p];
        squares_[p] += g * g;
        weights_[p] -= step_.size * g / std::sqrt(squares_[p]);
        gradient_[p] = 0;
      }
    });
    return loss;
  }

  const std::vector<double>& weights() const { return weights_; }
  const std::vector<double>& squares() const { return squares_; }
  std::vector<double> take() { return std::move(weights_); }

 private:
  const JumpObjective& objective_;
  const GradientStep step_;
  const std::vector<std::uint32_t>& n_sentences_;
  JumpObjective::Scratch scratch_;
  JumpScores<Planes> scores_;
  Touched touched_;
  std::vector<double> weights_, gradient_, squares_;
};

template <std::size_t Planes>
Minimum run_adagrad(const JumpObjective& objective, const AdagradOptions& options, const Progress& progress) {
  constexpr std::size_t kReport = 256;
  const std::vector<std::uint32_t> n_sentences = count_sentences(objective);
  Adagrad<Planes> adagrad(objective, {options.step, options.variance}, n_sentences);
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
    const auto& w = adagrad.weights();
    minimum.objective.push_back(loss + dot(w, w, objective.n_threads()) / (2 * options.variance));
  }
  minimum.x = objective.in_our_order(adagrad.take());
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
  const std::vector<std::uint32_t> n_sentences = count_sentences(objective);
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
          const double share = std::sqrt(own->squares()[p]);
          sum.weighted[p] += own->weights()[p] * share;
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
