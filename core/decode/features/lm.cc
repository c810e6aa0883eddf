#include "decode/features/lm.hh"

#include <algorithm>
#include <cmath>
#include <limits>

namespace hyperbaton {

LmFeature::LmFeature(const WeightedLm& lm, const Sentence& sentence, const Limits&) : lm_(lm), sentence_(sentence) {
  begin_ = number(lm.model.begin_state());
  const std::size_t open = lm.model.order() - 1;
  for (const auto words : sentence.targets()) {
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

std::uint32_t LmFeature::number(const LmState& state) {
  const auto [number, is_new] = numbers_.number(std::span(state.words).first(state.length));
  if (is_new) {
    states_.push_back(state);
    finished_.push_back(std::numeric_limits<float>::quiet_NaN());
  }
  return number;
}

std::uint32_t LmFeature::row(std::uint32_t state, std::uint32_t first, std::uint32_t last) {
  const auto [place, found] = rows_.find_or_add(static_cast<std::uint64_t>(state) << 32 | first);
  if (!found) {
    *place = static_cast<std::uint32_t>(results_.size());
    results_.resize(results_.size() + (last - first), Scored{0, kOpen});
  }
  return *place;
}

LmFeature::Scored LmFeature::score_option(std::uint32_t state, std::uint32_t option) {
  const auto words = sentence_.target(option);
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

void LmFeature::finish(const std::uint32_t* state, float& score) {
  float& finished = finished_[*state];
  if (std::isnan(finished)) {
    LmState out;
    finished = lm_.weight * lm_.model.score(states_[*state], lm_.model.eos(), out);
  }
  score += finished;
}

void LmFeature::add_values(const Step&, const GraphStep& way, std::uint32_t, float* column) const {
  LmState states[2] = {states_[*way.state], {}};
  int now = 0;
  for (const auto word : sentence_.target(way.option)) {
    *column += lm_.model.score(states[now], lm_.words[word], states[1 - now]);
    now = 1 - now;
  }
}

void LmFeature::add_end_values(const std::uint32_t* state, float* column) const {
  LmState out;
  *column += lm_.model.score(states_[*state], lm_.model.eos(), out);
}

}  // namespace hyperbaton
