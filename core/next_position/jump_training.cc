#include "next_position/jump_training.hh"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <optional>
#include <utility>

namespace hyperbaton {

namespace {

// Calls use(f) for each feature of a sentence, as often as it occurs.
template <class Use>
void each_feature(const SentenceLists& lists, std::size_t first_class, const Use& use) {
  for (std::size_t f = 0; f < kJumpConstants; ++f) use(f);
  if (first_class != 0)
    for (std::size_t c = 0; c < kCandidateClasses; ++c) use(first_class + c);
  for (std::size_t at = 0; at < lists.n_ids; ++at) use(lists.ids[at]);
}

// AdaGrad on the sentences of a part. What it knows of a feature is in one place, so that a sentence fetches it from memory
// once; single precision is enough for steps that follow one sentence.
template <std::size_t Planes>
class Adagrad {
 public:
  Adagrad(const JumpObjective& objective, const AdagradState& state, double variance)
      : objective_(objective), scores_(objective.candidates()), features_(state.n_sentences.size()) {
    for (std::size_t f = 0; f < features_.size(); ++f) {
      const std::size_t ours = objective.our_feature(f);
      for (std::size_t p = 0; p < Planes; ++p) {
        features_[f].weights[p] = static_cast<float>(state.weights[Planes * ours + p]);
        features_[f].squares[p] = static_cast<float>(state.squares[Planes * ours + p]) + kLeast;
      }
      features_[f].shrink = static_cast<float>(1 / (variance * state.n_sentences[ours]));
    }
  }

  double visit(std::size_t place, double step) {
    const SentenceLists lists = objective_.lists_of(place, scratch_);
    const auto weights_of = [&](std::size_t f) { return features_[f].weights.data(); };
    scores_.score(lists, weights_of, scratch_.next);
    const double loss = scores_.loss(scratch_.next, weights_of);
    scores_.add_gradient(lists, [&](std::size_t f) { return features_[f].gradient.data(); }, scratch_.next);
    ++n_visits_;
    const auto size = static_cast<float>(step);
    each_feature(lists, objective_.candidates().first_class, [&](std::size_t f) { update(features_[f], size); });
    return loss;
  }

  // Add the weights and squares of a feature, given by its inner number, to sums in the caller's order.
  void add_to(AdagradSums& sums, const AdagradState& state, std::size_t f) const {
    const std::size_t ours = Planes * objective_.our_feature(f);
    for (std::size_t p = 0; p < Planes; ++p) {
      const double before = static_cast<float>(state.squares[ours + p]) + kLeast;
      const double squares = static_cast<double>(features_[f].squares[p]) - before, share = std::sqrt(squares);
      sums.weighted[ours + p] += share * static_cast<double>(features_[f].weights[p]);
      sums.shares[ours + p] += share;
      sums.squares[ours + p] += squares;
    }
  }

 private:
  static constexpr float kLeast = 1e-8F;  // sum of squares before the first sentence

  struct Feature {
    std::array<float, Planes> weights{}, gradient{}, squares{};
    float shrink = 0;           // 1 / (σ² · number of sentences in which it occurs)
    std::uint32_t updated = 0;  // the last visit that updated it
  };

  void update(Feature& feature, float step) {
    if (std::exchange(feature.updated, n_visits_) == n_visits_) return;
    for (std::size_t p = 0; p < Planes; ++p) {
      const float g = feature.gradient[p] + feature.shrink * feature.weights[p];
      feature.squares[p] += g * g;
      feature.weights[p] -= step * g / std::sqrt(feature.squares[p]);
      feature.gradient[p] = 0;
    }
  }

  const JumpObjective& objective_;
  JumpObjective::Scratch scratch_;
  JumpScores<Planes> scores_;
  std::vector<Feature> features_;
  std::uint32_t n_visits_ = 0;
};

// Two halves of a large text. More parts would be faster on more processors, but their mean is farther from the minimum.
std::size_t n_parts(std::size_t n_sentences) {
  constexpr std::size_t kEnough = 50000;
  return n_sentences < 2 * kEnough ? 1 : 2;
}

template <std::size_t Planes>
AdagradSums run_pass(const JumpObjective& objective, const AdagradState& state, const AdagradPass& options,
                     const Progress& progress) {
  const std::size_t n = objective.sentences().size(), size = objective.n_parameters(), parts = n_parts(n);
  AdagradSums sums{.loss = 0,
                   .n_parts = parts,
                   .weighted = std::vector<double>(size),
                   .shares = std::vector<double>(size),
                   .squares = std::vector<double>(size)};
  const std::size_t together = std::max(1u, objective.n_threads());
  // A few parts at a time; they are added in order.
  for (std::size_t first = 0; first < parts; first += together) {
    std::vector<std::optional<Adagrad<Planes>>> learned(std::min(together, parts - first));
    std::vector<double> losses(learned.size());
    const Progress report = [&](std::size_t done, std::size_t) {
      return !progress || progress(options.pass * parts + first + done, options.n_passes * parts);
    };
    parallel_chunks(learned.size(), 1, objective.n_threads(), report, [&](std::size_t at, std::size_t, Poll& poll) {
      auto& own = learned[at].emplace(objective, state, options.variance);
      const std::size_t begin = (first + at) * n / parts, end = (first + at + 1) * n / parts;
      for (std::size_t t = begin; t < end; ++t) {
        const double done =
            static_cast<double>(options.pass) + static_cast<double>(t - begin) / static_cast<double>(end - begin);
        const double step = options.step * (1 - done / static_cast<double>(options.n_passes));
        losses[at] += own.visit(options.pass % 2 == 0 ? t : end - 1 - (t - begin), step);
        poll.check();
      }
    });
    for (const double loss : losses) sums.loss += loss;
    parallel_chunks(size / Planes, kVectorChunk, objective.n_threads(), {}, [&](std::size_t begin, std::size_t end) {
      for (const auto& own : learned)
        for (std::size_t f = begin; f < end; ++f) own->add_to(sums, state, f);
    });
  }
  return sums;
}

}  // namespace

double adagrad_step(const JumpObjective& objective) { return objective.planes() == 1 ? 0.1 : 0.02; }

std::vector<double> count_sentences(const JumpObjective& objective, const Progress& progress) {
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
  std::vector<double> ours(n_features);
  for (std::size_t f = 0; f < n_features; ++f)
    ours[objective.our_feature(f)] = static_cast<double>(counts[f].load(std::memory_order_relaxed));
  return ours;
}

AdagradSums adagrad_pass(const JumpObjective& objective, const AdagradState& state, const AdagradPass& options,
                         const Progress& progress) {
  return objective.planes() == 1 ? run_pass<1>(objective, state, options, progress)
                                 : run_pass<3>(objective, state, options, progress);
}

}  // namespace hyperbaton
