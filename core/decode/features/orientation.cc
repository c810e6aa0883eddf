#include "decode/features/orientation.hh"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/errors.hh"
#include "base/interner.hh"
#include "base/math.hh"
#include "base/size.hh"
#include "phrases/coverage_state.hh"
#include "phrases/distance_classes.hh"

namespace hyperbaton {

void OptionScorer::check() const {
  if (weights.size() != 1 && weights.size() != n_classes) throw Error("there must be one weight, or one for each class");
  const bool fits =
      rule == StepRule::Distance ? cuts.size() + 1 == n_classes : *std::ranges::max_element(merge) < n_classes;
  if (!fits) throw Error("the scores and the orientation set have different numbers of classes");
  if (is_normalised() && (side != Side::Before || times_distance || n_classes > PossibleClasses::kMost))
    throw Error("possible classes and coverage need orientations relative to the previous phrase, used directly");
  if (!coverage.empty() && coverage.size() != kCoverageStates * n_classes)
    throw Error("there must be a weight for each coverage state and each class");
  if (is_sparse && weights.size() != n_classes) throw Error("sparse features count each class");
  if (!between.empty() && (side == Side::After || source_offsets.empty() ||
                           between.size() != (to_size(source_offsets.back()) + source_offsets.size() - 1) * n_classes))
    throw Error("there must be a row for each word, and one more for each sentence");
}

OrientationFeature::OrientationFeature(const OptionScorer& scorer, const Sentence& sentence, const Limits&)
    : scorer_(scorer), sentence_(sentence), weighted_(sentence.n_options() * scorer.n_classes) {
  const auto scores = scorer.scores.subspan(sentence.row(0) * scorer.n_classes, weighted_.size());
  for (std::size_t i = 0; i < weighted_.size(); ++i) weighted_[i] = scores[i] * scorer.weight(i % scorer.n_classes);
  if (!scorer.between.empty())
    between_ =
        scorer.between.data() + (to_size(scorer.source_offsets[sentence.number()]) + sentence.number()) * scorer.n_classes;
  if (!is_after()) return;
  Interner numbers;
  std::vector<std::uint32_t> first;
  for (std::uint32_t o = 0; o < sentence.n_options(); ++o) {
    const auto row = std::span<const float>(weighted_).subspan(o * scorer.n_classes, scorer.n_classes);
    const auto [number, is_new] = numbers.number(row);
    if (is_new) first.push_back(o);
    rows_.push_back(first[number]);
  }
}

Needs OrientationFeature::needs(const Limits&) const {
  const bool hierarchical = scorer_.rule == StepRule::Hierarchical;
  const bool passes_over = !scorer_.between.empty();
  return {.end = !hierarchical || is_after() || passes_over,
          .begin = passes_over,
          .begin_at_swap = scorer_.rule == StepRule::Neighbour || (hierarchical && is_after()),
          .stack = hierarchical && !is_after()};
}

std::uint32_t OrientationFeature::step_class(const Step& step) const {
  Orientation orientation;
  if (scorer_.rule == StepRule::Distance) {
    return distance_class(step.previous.end - step.next.begin, scorer_.cuts);
  } else if (scorer_.rule == StepRule::Hierarchical && scorer_.side == Side::Before) {
    orientation = step.hierarchical;
  } else if (step.first) {
    orientation = first_step_orientation(step.next);
  } else if (scorer_.rule == StepRule::Neighbour) {
    orientation = step_orientation(step.previous, step.next);
  } else {
    const Beside beside{step.previous.begin > 0 && step.before[step.previous.begin - 1],
                        step.previous.end < sentence_.n_words() && step.before[step.previous.end]};
    orientation = hierarchical_step_orientation(step.previous, step.next, beside);
  }
  return scorer_.merge[static_cast<std::size_t>(orientation)];
}

std::uint32_t OrientationFeature::situation(const Step& step, std::uint32_t step_class) {
  constexpr int kMaskBits = PossibleClasses::kMost;
  const std::uint32_t all = (1U << scorer_.n_classes) - 1;
  const std::uint32_t mask =
      scorer_.possible ? scorer_.possible->mask(step.before, sentence_.n_words(), step.next) | 1U << step_class : all;
  const std::size_t state = scorer_.coverage.empty() ? 0 : coverage_state(step.before, sentence_.n_words(), step.next);
  const auto [place, is_new] = situation_numbers_.try_emplace(static_cast<std::uint32_t>(state) << kMaskBits | mask,
                                                              static_cast<std::uint32_t>(situations_.size()));
  if (is_new) {
    const float* added = scorer_.coverage.empty() ? nullptr : scorer_.coverage.data() + state * scorer_.n_classes;
    situations_.push_back({mask, added, std::vector(sentence_.n_options(), std::numeric_limits<float>::quiet_NaN())});
  }
  Situation& known = situations_[place->second];
  for (std::uint32_t o = step.first_option; o < step.last_option; ++o) {
    if (!std::isnan(known.log_sums[o])) break;  // all options of a span are computed together
    known.log_sums[o] = log_sum(known, o);
  }
  return place->second;
}

// log Σ exp of the scores of an option's possible classes.
float OrientationFeature::log_sum(const Situation& situation, std::uint32_t option) const {
  double top = std::numeric_limits<double>::lowest(), sum = 0;
  for (std::uint32_t c = 0; c < scorer_.n_classes; ++c)
    if (situation.mask >> c & 1) top = std::max<double>(top, score_in(situation, option, c));
  for (std::uint32_t c = 0; c < scorer_.n_classes; ++c)
    if (situation.mask >> c & 1) sum += math::exp(score_in(situation, option, c) - top);
  return static_cast<float>(top + math::log(sum));
}

float OrientationFeature::normalised_score(std::uint32_t option, std::uint32_t memo) const {
  const Situation& known = situations_[memo >> kClassBits];
  return std::max(score_in(known, option, class_of(memo)) - known.log_sums[option], kLogFloor);
}

void OrientationFeature::add_values(const Step& step, const GraphStep& way, std::uint32_t memo, float* columns) const {
  if (is_after() && step.first) return;
  if (scorer_.is_normalised()) {
    columns[scorer_.n_values() == 1 ? 0 : class_of(memo)] += normalised_score(way.option, memo);
    return;
  }
  if (scorer_.is_sparse) {
    columns[memo] += 1;
    return;
  }
  const std::size_t row = sentence_.row(is_after() ? way.before : way.option);
  const float score = scorer_.scores[row * scorer_.n_classes + memo];
  columns[scorer_.n_values() == 1 ? 0 : memo] +=
      scorer_.times_distance ? score * static_cast<float>(jump_distance(step.previous, step.next)) : score;
}

}  // namespace hyperbaton
