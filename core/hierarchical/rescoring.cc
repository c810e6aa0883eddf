#include "hierarchical/rescoring.hh"

#include <algorithm>

namespace hyperbaton {

Rescoring::Rescoring(std::span<const JumpScorer> scorers, std::size_t sentence, int n_words)
    : scorers_(scorers), n_words_(n_words) {
  for (const auto& scorer : scorers) jumps_.emplace_back(scorer, sentence, n_words, false);
}

double Rescoring::score(std::vector<WordVisit>& visits) {
  std::ranges::sort(visits);
  values_.assign(to_size(n_words_) * scorers_.size(), 0);
  std::vector<std::uint32_t> words(Coverage::n_words(n_words_));
  const Coverage covered(words.data(), n_words_);
  std::uint32_t row = 0;
  const WordVisit* last = nullptr;  // the last linked one
  double sum = 0;
  for (const auto& visit : visits) {
    for (std::size_t k = 0; visit.is_linked && k < scorers_.size(); ++k) {
      if (!scorers_[k].inside && last && last->rule == visit.rule) continue;
      const auto normaliser = std::bit_cast<std::uint32_t>(jumps_[k].normaliser(row, covered));
      const float value = jumps_[k].logprob(covered, row, visit.word, normaliser);
      values_[visit.word * scorers_.size() + k] = value;
      sum += scorers_[k].weight * value;
    }
    Coverage::set(words.data(), {visit.word, visit.word + 1});
    if (!visit.is_linked) continue;
    row = SentenceJumps::row_of(visit.word);
    last = &visit;
  }
  return sum;
}

}  // namespace hyperbaton
