#include "decode/features/lm.hh"

#include <algorithm>
#include <cmath>
#include <limits>

namespace hyperbaton {

LmFeature::LmFeature(const WeightedLm& lm, const Sentence& sentence, const Limits&) : lm_(lm), sentence_(sentence) {
  begin_ = number(lm.model.begin_state());
  nothing_ = number(lm.model.null_state());
  for (const auto words : sentence.targets()) {
    const auto first = static_cast<std::uint32_t>(inside_.size());
    Phrase phrase{first, first + static_cast<std::uint32_t>(std::min(words.size(), n_context())), 0, nothing_};
    for (std::size_t i = 0; i < words.size(); ++i) {
      const Scored word = score_word(phrase.state, words[i]);
      phrase.state = word.state;
      if (i < n_context())
        inside_.push_back({words[i], word});
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

Scored LmFeature::new_score(std::uint32_t state, WordId word) {
  const auto number_in_lm = lm_.number(word);
  const LmState& before = states_[state];
  // Most word pairs were never seen, and distinct pairs are few: avoid a look-up for each state.
  if (before.length > 0 && !has_bigram(before.words[0], number_in_lm))
    return {lm_.weight * NgramModel::back_off(lm_.model.log10_prob(number_in_lm), before),
            score_word(nothing_, word).state};
  const float score = lm_.weight * lm_.model.score(before, number_in_lm, after_);
  return {score, number(after_)};
}

Scored LmFeature::score_option(std::uint32_t state, std::uint32_t option) {
  const auto& phrase = phrases_[option];
  const Word *word = inside_.data() + phrase.first, *const last = inside_.data() + phrase.last;
  const bool is_long = phrase.last - phrase.first == n_context();
  float score = phrase.rest;
  for (; word != last; ++word) {
    const Scored scored = score_word(state, word->word);
    score += scored.score;
    state = scored.state;
    if (state == word->inside.state) {  // the words before the phrase are forgotten
      while (++word != last) score += word->inside.score;
      return {score, phrase.state};
    }
  }
  return {score, is_long ? phrase.state : state};
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
