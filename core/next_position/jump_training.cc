#include "next_position/jump_training.hh"

#include <cmath>
#include <numeric>

#include "learn/passes.hh"
#include "learn/random.hh"

namespace hyperbaton {

namespace {

template <std::size_t Planes>
class Adagrad {
 public:
  Adagrad(const JumpObjective& objective, const AdagradOptions& options)
      : objective_(objective),
        options_(options),
        scores_(objective.candidates()),
        weights_(objective.n_parameters()),
        gradient_(objective.n_parameters()),
        squares_(objective.n_parameters(), 1e-8),
        n_sentences_(objective.n_parameters() / Planes),
        seen_(objective.n_parameters() / Planes, 0) {
    for (std::size_t place = 0; place < objective.sentences().size(); ++place)
      for_touched(objective.lists_of(place, scratch_), [&](std::size_t f) { ++n_sentences_[f]; });
  }

  double visit(std::size_t place) {
    const SentenceLists lists = objective_.lists_of(place, scratch_);
    scores_.score(lists, weights_.data(), scratch_.next);
    const double loss = scores_.loss(scratch_.next, weights_.data());
    scores_.add_gradient(lists, gradient_, scratch_.next);
    for_touched(lists, [&](std::size_t f) {
      const double shrink = 1 / (options_.variance * n_sentences_[f]);
      for (std::size_t p = Planes * f; p < Planes * (f + 1); ++p) {
        const double g = gradient_[p] + shrink * weights_[p];
        squares_[p] += g * g;
        weights_[p] -= options_.step * g / std::sqrt(squares_[p]);
        gradient_[p] = 0;
      }
    });
    return loss;
  }

  const std::vector<double>& weights() const { return weights_; }
  std::vector<double> take() { return std::move(weights_); }

 private:
  // Each feature of a sentence once.
  template <class Use>
  void for_touched(const SentenceLists& lists, const Use& use) {
    ++n_visits_;
    const auto touch = [&](std::size_t f) {
      if (seen_[f] == n_visits_) return;
      seen_[f] = n_visits_;
      use(f);
    };
    for (std::size_t f = 0; f < kJumpConstants; ++f) touch(f);
    if (const std::size_t first = objective_.candidates().first_class; first != 0)
      for (std::size_t c = 0; c < kCandidateClasses; ++c) touch(first + c);
    for (std::size_t at = 0; at < lists.n_ids; ++at) touch(lists.ids[at]);
  }

  const JumpObjective& objective_;
  const AdagradOptions& options_;
  JumpObjective::Scratch scratch_;
  JumpScores<Planes> scores_;
  std::vector<double> weights_, gradient_, squares_;
  std::vector<std::uint32_t> n_sentences_, seen_;
  std::uint32_t n_visits_ = 0;
};

template <std::size_t Planes>
Minimum run_adagrad(const JumpObjective& objective, const AdagradOptions& options, const Progress& progress) {
  constexpr std::size_t kReport = 256;
  Adagrad<Planes> adagrad(objective, options);
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

}  // namespace

Minimum adagrad_jumps(const JumpObjective& objective, const AdagradOptions& options, const Progress& progress) {
  return objective.planes() == 1 ? run_adagrad<1>(objective, options, progress)
                                 : run_adagrad<3>(objective, options, progress);
}

}  // namespace hyperbaton
