#include "hierarchical/chart_lm.hh"

namespace hyperbaton {

namespace {

std::uint64_t pair_key(std::uint32_t a, std::uint32_t b) { return static_cast<std::uint64_t>(a) << 32 | b; }

}  // namespace

ChartLm::ChartLm(const WeightedLm& lm) : lm_(lm) {
  number(lm.model.null_state());
  // A model of order 1 has no contexts, so the two states are equal; nothing else is ever numbered then.
  if (number(lm.model.begin_state()) != kBegin) states_.push_back(lm.model.begin_state());
  lefts_.push_back({.first = 0, .last = 0, .score = 0, .right = kNothing, .closed = false});
  lefts_.push_back({.first = 0, .last = 0, .score = 0, .right = kNothing, .closed = true});
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

std::uint32_t ChartLm::extend(std::uint32_t left, std::uint32_t word) {
  if (lm_.model.order() == 1) return kClosed;
  const auto [known, found] = extended_.find_or_add(pair_key(left, word));
  if (found) return *known;
  const Left before = lefts_[left];
  bool extends_left;
  const float score = lm_.model.score(states_[before.right], word, after_, extends_left);
  Left after{.first = static_cast<std::uint32_t>(words_.size()),
             .last = 0,
             .score = before.score + score,
             .right = number(after_),
             .closed = false};
  for (auto i = before.first; i < before.last; ++i) words_.push_back(words_[i]);
  words_.push_back(word);
  after.last = static_cast<std::uint32_t>(words_.size());
  const auto n = after.last - after.first;
  // The state before the word contains all preceding words; otherwise the dropped words cannot affect it.
  const bool all_matter = states_[before.right].length == n - 1;
  after.closed = n == lm_.model.order() - 1 || !all_matter || !extends_left;
  lefts_.push_back(after);
  return *known = static_cast<std::uint32_t>(lefts_.size() - 1);
}

float ChartLm::append(LmPart& part, WordId word) {
  const auto number = lm_.number(word);
  const Scored scored = score(part.right, number);
  if (!lefts_[part.left].closed) part.left = extend(part.left, number);
  part.right = scored.state;
  return scored.score;
}

float ChartLm::append(LmPart& part, LmPart added) {
  if (added.left == kNothing) return 0;
  if (part.left == kNothing) {
    part = added;
    return 0;
  }
  const auto [junction, found] = junctions_.find_or_add(part.right, added.left);
  if (!found) {
    float sum = -lefts_[added.left].score;
    auto state = part.right;
    for (const auto word : words_of(lefts_[added.left])) {
      const Scored scored = score(state, word);
      sum += scored.score;
      state = scored.state;
    }
    *junction = {sum, state};
  }
  const float score = junction->score;
  const auto state = junction->state;
  if (!lefts_[part.left].closed) {
    const auto [left, is_known] = joined_.find_or_add(pair_key(part.left, added.left));
    if (!is_known) {
      auto joined = part.left;
      for (auto i = lefts_[added.left].first; i < lefts_[added.left].last && !lefts_[joined].closed; ++i)
        joined = extend(joined, words_[i]);
      *left = joined;
    }
    part.left = *left;
  }
  part.right = lefts_[added.left].closed ? added.right : state;
  return score;
}

float ChartLm::finish(LmPart part) { return score(part.right, NgramModel::kEos).score; }

}  // namespace hyperbaton
