#include "decode/features/lm.hh"

#include <algorithm>
#include <cmath>
#include <limits>

namespace hyperbaton {

LmFeature::LmFeature(const WeightedLm& lm, const Sentence& sentence, const Limits&) : lm_(lm), sentence_(sentence) {
  begin_ = number(lm.model.begin_state());
  nothing_ = number(lm.model.null_state());
  for (const auto words : sentence.targets()) {
    Phrase phrase{static_cast<std::uint32_t>(inside_.size()), 0, nothing_};
    for (std::size_t i = 0; i < words.size(); ++i) {
      const Scored word = score_word(phrase.state, words[i]);
      phrase.state = word.state;
      if (i < n_context())
        inside_.push_back(word);
      else
        phrase.rest += word.score;
    }
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

std::uint32_t LmFeature::shortened(std::uint32_t state) {
  if (states_[state].length <= 1) return state;
  LmState last{};
  last.length = 1;
  last.words[0] = states_[state].words[0];
  last.backoff[0] = states_[state].backoff[0];
  return number(last);
}

bool LmFeature::has_bigram(std::uint32_t before, std::uint32_t word) {
  const auto [known, found] = bigrams_.find_or_add(static_cast<std::uint64_t>(before) << 32 | word);
  if (!found) *known = lm_.model.has_bigram(before, word) ? 1 : 0;
  return *known != 0;
}

Scored LmFeature::score_word(std::uint32_t state, WordId word) {
  if (const auto [known, found] = words_.find_or_add(state, word); found) return *known;
  const auto number_in_lm = lm_.number(word);
  const LmState& before = states_[state];
  Scored scored;
  if (before.length > 0 && !has_bigram(before.words[0], number_in_lm)) {
    // Most word pairs were never seen, and distinct pairs are few: avoid a look-up for each state.
    scored = {lm_.weight * NgramModel::back_off(lm_.model.log10_prob(number_in_lm), before),
              score_word(nothing_, word).state};
  } else {
    scored.score = lm_.weight * lm_.model.score(before, number_in_lm, after_);
    scored.state = number(after_);
  }
  return *words_.find_or_add(state, word).first = scored;
}

Scored LmFeature::score_option(std::uint32_t state, std::uint32_t option) {
  const auto words = sentence_.target(option);
  const auto& phrase = phrases_[option];
  const Scored* inside = inside_.data() + phrase.first;
  const std::size_t n = std::min(words.size(), n_context());
  float score = phrase.rest;
  for (std::size_t i = 0; i < n; ++i) {
    const Scored word = score_word(state, words[i]);
    score += word.score;
    state = word.state;
    if (state == inside[i].state) {  // the words before the phrase are forgotten
      while (++i < n) score += inside[i].score;
      return {score, phrase.state};
    }
  }
  return {score, words.size() < n_context() ? state : phrase.state};
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
    *column += lm_.model.score(states[now], lm_.number(word), states[1 - now]);
    now = 1 - now;
  }
}

void LmFeature::add_end_values(const std::uint32_t* state, float* column) const {
  LmState out;
  *column += lm_.model.score(states_[*state], lm_.model.eos(), out);
}

}  // namespace hyperbaton
