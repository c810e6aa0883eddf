#include "hierarchical/chart_lm.hh"

namespace hyperbaton {

ChartLm::ChartLm(const WeightedLm& lm) : lm_(lm) {
  number(lm.model.null_state());
  // A model of order 1 has no contexts, so the two states are equal; nothing else is ever numbered then.
  if (number(lm.model.begin_state()) != kBegin) states_.push_back(lm.model.begin_state());
  lefts_.push_back({.first = 0, .last = 0, .score = 0, .last_score = 0, .right = kNothing});
}

std::uint32_t ChartLm::number(const LmState& state) {
  // Words beyond the length of a state are 0, and so is <unk>.
  std::uint32_t key[kMaxNgramOrder];
  key[0] = state.length;
  std::ranges::copy(state.words, key + 1);
  const auto [id, is_new] = state_numbers_.number(std::span<const std::uint32_t>(key));
  if (is_new) states_.push_back(state);
  return id;
}

Scored ChartLm::score(std::uint32_t right, std::uint32_t word) {
  const auto [known, found] = scores_.find_or_add(right, word);
  if (found) return *known;
  known->score = lm_.model.score(states_[right], word, after_);
  return *known = {known->score, number(after_)};
}

std::uint32_t ChartLm::extend(std::uint32_t from, std::uint32_t word) {
  const auto [known, found] = extended_.find_or_add(from, word);
  if (found) return *known;
  const Left before = left(from);
  bool extends_left;
  const float score = lm_.model.score(states_[before.right], word, after_, extends_left);
  Left after{.first = static_cast<std::uint32_t>(words_.size()),
             .last = 0,
             .score = before.score + score,
             .last_score = score,
             .right = number(after_)};
  for (auto i = before.first; i < before.last; ++i) words_.push_back(words_[i]);
  words_.push_back(word);
  after.last = static_cast<std::uint32_t>(words_.size());
  const auto n = after.last - after.first;
  // The state before the word contains all preceding words; otherwise the dropped words cannot affect it.
  const bool all_matter = states_[before.right].length == n - 1;
  const bool closed = n == lm_.model.order() - 1 || !all_matter || !extends_left;
  *known = static_cast<std::uint32_t>(2 * lefts_.size()) + (closed ? 1 : 0);
  lefts_.push_back(after);
  return *known;
}

float ChartLm::append(LmPart& part, WordId word) {
  const auto number = lm_.number(word);
  if (is_closed(part.left) || lm_.model.order() == 1) {
    const Scored scored = score(part.right, number);
    part = {part.left | 1, scored.state};
    return scored.score;
  }
  part.left = extend(part.left, number);
  part.right = left(part.left).right;
  return left(part.left).last_score;
}

Scored ChartLm::score_words(std::uint32_t right, std::uint32_t of) {
  const Left words = left(of);
  Scored sum{-words.score, right};
  for (auto i = words.first; i < words.last; ++i) {
    const Scored scored = score(sum.state, words_[i]);
    sum = {sum.score + scored.score, scored.state};
  }
  return sum;
}

ChartLm::Joined ChartLm::join_words(LmPart part, std::uint32_t of) {
  const auto junction = join(part.right, of);
  const Left words = left(of);
  for (auto i = words.first; i < words.last && !is_closed(part.left); ++i) part.left = extend(part.left, words_[i]);
  return {junction.score, {part.left, junction.state}};
}

float ChartLm::finish(LmPart part) { return score(part.right, NgramModel::kEos).score; }

}  // namespace hyperbaton
