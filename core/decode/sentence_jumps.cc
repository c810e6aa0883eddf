#include "decode/sentence_jumps.hh"

#include <algorithm>

#include "base/errors.hh"
#include "base/math.hh"

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

SentenceJumps::SentenceJumps(const JumpScorer& scorer, std::size_t sentence, int n_words, bool has_threshold)
    : scorer_(scorer), n_words_(n_words), matrix_(scorer.matrices.data() + scorer.offsets[sentence]) {
  if (!scorer.remaining && !has_threshold) return;
  const std::size_t side = to_size(n_words_) + 1;
  for (std::size_t row = 0; row < side; ++row) {
    const auto values = std::span(matrix_ + row * side, side);
    tops_.push_back(*std::ranges::max_element(values));
    for (const float value : values) exps_.push_back(math::exp(static_cast<double>(value) - tops_.back()));
  }
  for (const float weight : scorer_.classes) class_exps_.push_back(math::exp(weight));
}

float SentenceJumps::make_normaliser(std::uint32_t row, const Coverage& before) const {
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

float SentenceJumps::long_normaliser(std::uint32_t row, const Coverage& before) {
  long_key_.assign(1, row);
  long_key_.insert(long_key_.end(), before.words().begin(), before.words().end());
  const auto [number, is_new] = long_keys_.number(std::span<const std::uint32_t>(long_key_));
  if (is_new) long_normalisers_.push_back(make_normaliser(row, before));
  return long_normalisers_[number];
}

void SentenceJumps::likelihood(const Coverage& before, std::uint32_t row, SourceSpan next, float& best) {
  constexpr double kFarthest = 500;  // below this, values relative to the row's largest may have underflowed to 0
  const double above = tops_[row] - static_cast<double>(normaliser(row, before));
  if (above > kFarthest) {
    best = 1;
    return;
  }
  const auto left = remaining(before, row);
  double sum = 0;
  for (int to = next.begin; to < next.end; ++to)
    sum += exps_[at(row, to)] * (class_exps_.empty() ? 1 : class_exps_[left.class_of(to)]);
  best = std::max(best, static_cast<float>(sum * math::exp(above)));
}

}  // namespace hyperbaton
