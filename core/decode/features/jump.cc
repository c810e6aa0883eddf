#include "decode/features/jump.hh"

#include <algorithm>

#include "base/errors.hh"
#include "base/math.hh"
#include "base/size.hh"

namespace hyperbaton {

JumpFeature::JumpFeature(const JumpScorer& scorer, const Sentence& sentence, const Limits& limits)
    : scorer_(scorer),
      n_words_(sentence.n_words()),
      jumps_(scorer, sentence.number(), n_words_, limits.jump_threshold > 0) {
  for (std::uint32_t o = 0; o < sentence.n_options(); ++o) find_visits(sentence, o);
  if (limits.future_jumps == FutureJumps::None) return;
  for (std::uint32_t o = 0; o < sentence.n_options(); ++o) estimates_.push_back(expected(sentence, o, limits.future_jumps));
}

void JumpFeature::find_visits(const Sentence& sentence, std::uint32_t option) {
  const auto begin = static_cast<std::uint32_t>(order_.size());
  Visits visits{-1, -1, 0, 0, begin, begin};
  // Words ordered by first target word, then source position; links are sorted by source word, then target word.
  std::vector<Link> firsts;
  for (const auto link : sentence.links(option))
    if (firsts.empty() || firsts.back().source != link.source) firsts.push_back(link);
  std::ranges::stable_sort(firsts, {}, &Link::target);
  for (const auto link : firsts) {
    const std::int32_t position = sentence.source(option).begin + link.source;
    if (visits.first < 0)
      visits.first = position;
    else if (scorer_.inside && !scorer_.remaining)
      visits.inner += jumps_.jump(row_of(visits.last), position);
    visits.last = position;
    order_.push_back(position);
  }
  visits.end = static_cast<std::uint32_t>(order_.size());
  visits.weighted_inner = scorer_.weight * visits.inner;
  visits_.push_back(visits);
}

float JumpFeature::inner_remaining(const Coverage& before, std::uint32_t option) const {
  const auto& visits = visits_[option];
  const auto order = std::span(order_).subspan(visits.begin, visits.end - visits.begin);
  if (order.size() < 2) return 0;
  std::vector<std::uint32_t> words(before.words().begin(), before.words().end());
  const Coverage visited(words.data(), n_words_);
  float sum = 0;
  for (std::size_t k = 1; k < order.size(); ++k) {
    Coverage::set(words.data(), {order[k - 1], order[k - 1] + 1});
    const auto row = row_of(order[k - 1]);
    sum += jumps_.logprob(visited, row, order[k], std::bit_cast<std::uint32_t>(jumps_.make_normaliser(row, visited)));
  }
  return sum;
}

float JumpFeature::expected(const Sentence& sentence, std::uint32_t option, FutureJumps kind) const {
  const auto& visits = visits_[option];
  if (visits.first < 0) return 0;
  const auto span = sentence.source(option);
  const bool bound = kind == FutureJumps::Bound;
  // The most that class weights can add to a jump and subtract from the others.
  double most = 0, least = 0;
  if (bound && !scorer_.classes.empty()) {
    const auto [low, high] = std::ranges::minmax(scorer_.classes);
    most = high;
    least = low;
  }
  // Bound for a jump from a row when the words of order_ from k on are not visited yet: they and the end are candidates
  // in any case.
  const auto value = [&](std::uint32_t row, std::size_t k) {
    const std::int32_t to = order_[k];
    if (!scorer_.remaining) return jumps_.jump(row, to);
    double rest = 0;
    const auto add = [&](std::int32_t other) {
      if (other != to && row_of(other) != row)
        rest += math::exp(static_cast<double>(jumps_.jump(row, other)) + least - jumps_.jump(row, to) - most);
    };
    add(n_words_);
    if (bound)
      for (std::size_t other = k; other < visits.end; ++other) add(order_[other]);
    else
      for (std::int32_t other = 0; other < n_words_; ++other) add(other);
    return std::max(static_cast<float>(-math::log1p(rest)), kLogFloor);
  };
  float best = -std::numeric_limits<float>::infinity();
  for (std::uint32_t row = 0; row <= static_cast<std::uint32_t>(n_words_); ++row)
    if (row < row_of(span.begin) || row >= row_of(span.end))
      best = std::max(best, scorer_.weight * value(row, visits.begin));
  if (scorer_.inside)
    for (std::size_t k = visits.begin + 1; k < visits.end; ++k) best += scorer_.weight * value(row_of(order_[k - 1]), k);
  return best;
}

}  // namespace hyperbaton
