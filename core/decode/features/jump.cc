#include "decode/features/jump.hh"

#include <algorithm>

#include "base/errors.hh"
#include "base/math.hh"
#include "base/size.hh"

namespace hyperbaton {

void JumpScorer::check(std::span<const std::int64_t> source_offsets) const {
  const std::size_t n = source_offsets.size() - 1;
  if (offsets.size() != n + 1 || offsets[n] != static_cast<std::int64_t>(matrices.size()))
    throw Error("there must be a matrix of jumps for each sentence");
  for (std::size_t s = 0; s < n; ++s) {
    const auto side = source_offsets[s + 1] - source_offsets[s] + 1;
    if (offsets[s + 1] - offsets[s] != side * side)
      throw Error("a matrix of jumps must have a row and a column more than the sentence has words");
  }
  if (!classes.empty() && (!remaining || classes.size() != kCandidateClasses))
    throw Error("weights of classes need one weight for each class, and normalisation over the remaining words");
}

JumpFeature::JumpFeature(const JumpScorer& scorer, const Sentence& sentence, const Limits& limits)
    : scorer_(scorer), n_words_(sentence.n_words()), matrix_(scorer.matrices.data() + scorer.offsets[sentence.number()]) {
  for (std::uint32_t o = 0; o < sentence.n_options(); ++o) find_visits(sentence, o);
  if (scorer.remaining || limits.jump_threshold > 0) fill_exps();
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
      visits.inner += jump(row_of(visits.last), position);
    visits.last = position;
    order_.push_back(position);
  }
  visits.end = static_cast<std::uint32_t>(order_.size());
  visits.weighted_inner = scorer_.weight * visits.inner;
  visits_.push_back(visits);
}

void JumpFeature::fill_exps() {
  const std::size_t side = to_size(n_words_) + 1;
  for (std::size_t row = 0; row < side; ++row) {
    const auto values = std::span(matrix_ + row * side, side);
    tops_.push_back(*std::ranges::max_element(values));
    for (const float value : values) exps_.push_back(math::exp(static_cast<double>(value) - tops_.back()));
  }
  for (const float weight : scorer_.classes) class_exps_.push_back(math::exp(weight));
}

float JumpFeature::make_normaliser(std::uint32_t row, const Coverage& before) const {
  constexpr double kLeast =
      1e-250;  // smaller sums have lost too much precision: recompute from the largest remaining value
  const auto left = remaining(before, row);
  double sum = 0;
  if (class_exps_.empty())
    left.each([&](int to) { sum += exps_[at(row, to)]; });
  else
    left.each([&](int to) { sum += exps_[at(row, to)] * class_exps_[left.class_of(to)]; });
  if (sum >= kLeast) return static_cast<float>(tops_[row] + math::log(sum));
  const auto score = [&](int to) {
    return static_cast<double>(jump(row, to)) + (scorer_.classes.empty() ? 0 : scorer_.classes[left.class_of(to)]);
  };
  double top = score(n_words_), rest = 0;
  left.each([&](int to) { top = std::max(top, score(to)); });
  left.each([&](int to) { rest += math::exp(score(to) - top); });
  return static_cast<float>(top + math::log(rest));
}

float JumpFeature::long_normaliser(std::uint32_t row, const Coverage& before) {
  long_key_.assign(1, row);
  long_key_.insert(long_key_.end(), before.words().begin(), before.words().end());
  const auto [number, is_new] = long_keys_.number(std::span<const std::uint32_t>(long_key_));
  if (is_new) long_normalisers_.push_back(make_normaliser(row, before));
  return long_normalisers_[number];
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
    sum += logprob(visited, row, order[k], std::bit_cast<std::uint32_t>(make_normaliser(row, visited)));
  }
  return sum;
}

void JumpFeature::likelihood(const Coverage& before, const std::uint32_t* state, SourceSpan next, float& best) {
  constexpr double kFarthest = 500;  // below this, values relative to the row's largest may have underflowed to 0
  const double above = tops_[*state] - static_cast<double>(normaliser(*state, before));
  if (above > kFarthest) {
    best = 1;
    return;
  }
  const auto left = remaining(before, *state);
  double sum = 0;
  for (int to = next.begin; to < next.end; ++to)
    sum += exps_[at(*state, to)] * (class_exps_.empty() ? 1 : class_exps_[left.class_of(to)]);
  best = std::max(best, static_cast<float>(sum * math::exp(above)));
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
    if (!scorer_.remaining) return jump(row, to);
    double rest = 0;
    const auto add = [&](std::int32_t other) {
      if (other != to && row_of(other) != row)
        rest += math::exp(static_cast<double>(jump(row, other)) + least - jump(row, to) - most);
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
