#include "align/pair_posteriors.hh"

#include <algorithm>

namespace hyperbaton {

namespace {

constexpr float kSmallestNull = 1e-10f;  // lower bound, so that every sentence has a nonzero probability
constexpr float kUnlisted = 1e-7f;       // probability of a pair that is not in the table

}  // namespace

void PairPosteriors::look_up(const Lexicon& lexicon, std::span<const WordId> source, std::span<const WordId> target) {
  const auto row_of = [&](std::size_t i) {
    return source[i] == kUnknownWord ? std::span<const Lexicon::Entry>() : lexicon.row(source[i]);
  };
  // The table does not fit in the caches: prefetch the records of the next row while working on this one.
  const auto prefetch = [&](std::size_t i) {
    const auto row = row_of(i);
    for (const auto hash : hashes_) Lexicon::prefetch(row, hash);
  };
  hashes_.clear();
  for (const auto word : target) hashes_.push_back(Lexicon::hash(word));
  entries_.resize(n_ * m_);
  for (auto& emission : emissions_) emission.resize(n_ * m_);
  prefetch(0);
  for (std::size_t i = 0; i < n_; ++i) {
    if (i + 1 < n_) prefetch(i + 1);
    const auto row = row_of(i);
    for (std::size_t j = 0; j < m_; ++j) {
      const auto* entry = entries_[i * m_ + j] = Lexicon::find(row, target[j], hashes_[j]);
      emissions_[kToTarget][j * n_ + i] = entry ? entry->probability[kToTarget].value() : kUnlisted;
      emissions_[kToSource][i * m_ + j] = entry ? entry->probability[kToSource].value() : kUnlisted;
    }
  }
}

void PairPosteriors::run(const AlignmentModel& model, std::span<const WordId> source, std::span<const WordId> target,
                         bool chained) {
  n_ = source.size();
  m_ = target.size();
  look_up(model.lexicon, source, target);
  for (const auto direction : {kToTarget, kToSource}) {
    const auto generated = direction == kToTarget ? target : source;
    auto& nulls = nulls_[direction];
    nulls.clear();
    for (const auto word : generated)
      nulls.push_back(word == kUnknownWord ? kUnlisted : std::max(model.null_emission[direction][word], kSmallestNull));
    const Observation seen{.n_states = static_cast<int>(n_ * m_ / generated.size()),
                           .n_observed = static_cast<int>(generated.size()),
                           .emission = emissions_[direction].data(),
                           .null_emission = nulls.data()};
    logprob_[direction] = chained ? sums_[direction].run(seen, model.jumps[direction], model.null_probability)
                                  : sums_[direction].run_model1(seen, model.null_probability);
    posteriors_[direction] = sums_[direction].posterior();
  }
}

void PairPosteriors::replace(std::array<std::vector<float>, 2> posteriors) {
  replaced_ = std::move(posteriors);
  for (const auto direction : {kToTarget, kToSource}) posteriors_[direction] = replaced_[direction];
}

}  // namespace hyperbaton
