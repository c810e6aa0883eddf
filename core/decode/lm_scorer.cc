#include "decode/lm_scorer.hh"

#include <algorithm>
#include <cmath>
#include <limits>

namespace hyperbaton {

LmScorer::LmScorer(const WeightedLm& lm, std::span<const std::span<const WordId>> targets) : lm_(lm), targets_(targets) {
  begin_ = number(lm.model.begin_state());
  const std::size_t open = lm.model.order() - 1;
  for (const auto words : targets) {
    Phrase phrase{0, kOpen};
    LmState states[2] = {lm.model.null_state(), {}};
    int now = 0;
    for (std::size_t i = 0; i < words.size(); ++i) {
      const float score = lm.model.score(states[now], lm.words[words[i]], states[1 - now]);
      now = 1 - now;
      if (i >= open) phrase.inner += lm.weight * score;
    }
    if (words.size() >= open) phrase.state = number(states[now]);
    phrases_.push_back(phrase);
  }
}

std::uint32_t LmScorer::number(const LmState& state) {
  const auto [number, is_new] = numbers_.number(std::span(state.words).first(state.length));
  if (is_new) {
    states_.push_back(state);
    finished_.push_back(std::numeric_limits<float>::quiet_NaN());
  }
  return number;
}

std::uint32_t LmScorer::row(std::uint32_t state, std::uint32_t first, std::uint32_t last) {
  const auto [place, found] = rows_.find_or_add(static_cast<std::uint64_t>(state) << 32 | first);
  if (!found) {
    *place = static_cast<std::uint32_t>(results_.size());
    results_.resize(results_.size() + (last - first), Scored{0, kOpen});
  }
  return *place;
}

LmScorer::Scored LmScorer::score(std::uint32_t state, std::uint32_t option) {
  const auto words = targets_[option];
  const std::size_t open = std::min<std::size_t>(words.size(), lm_.model.order() - 1);
  float score = phrases_[option].inner;
  LmState states[2] = {states_[state], {}};
  int now = 0;
  for (std::size_t i = 0; i < open; ++i) {
    score += lm_.weight * lm_.model.score(states[now], lm_.words[words[i]], states[1 - now]);
    now = 1 - now;
  }
  return {score, phrases_[option].state == kOpen ? number(states[now]) : phrases_[option].state};
}

float LmScorer::finish(std::uint32_t state) {
  if (std::isnan(finished_[state])) {
    LmState out;
    finished_[state] = lm_.weight * lm_.model.score(states_[state], lm_.model.eos(), out);
  }
  return finished_[state];
}

}  // namespace hyperbaton
