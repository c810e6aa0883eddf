#include "phrases/phrase_finder.hh"

namespace hyperbaton {

std::vector<std::uint32_t> phrase_ranks(const PhrasesView& phrases, const ByteOrder& order) {
  auto ranks = order.ranks;
  ranks.push_back(order.terminator);
  PhraseFinder(ranks, phrases).check_order();
  return ranks;
}

PhraseFinder::PhraseFinder(std::span<const std::uint32_t> ranks, const PhrasesView& phrases)
    : ranks_(ranks), phrases_(phrases) {
  if (ranks.empty()) throw Error("the index does not match the phrase table: build the system again");
}

std::uint32_t PhraseFinder::rank(std::size_t phrase, std::size_t place) const {
  if (place >= phrases_.length(phrase)) return ranks_.back();
  const auto word = phrases_.word(phrase, place);
  if (word >= ranks_.size()) throw_damaged("a source phrase has a word that is not in the vocabulary");
  return ranks_[word];
}

std::size_t PhraseFinder::first_from(IndexRange phrases, std::size_t place, std::uint32_t least) const {
  while (phrases.first < phrases.last) {
    const auto middle = phrases.first + phrases.size() / 2;
    if (rank(middle, place) < least)
      phrases.first = middle + 1;
    else
      phrases.last = middle;
  }
  return phrases.first;
}

void PhraseFinder::check_order() const {
  for (std::size_t p = 1; p < phrases_.size(); ++p) {
    std::size_t i = 0;
    while (i < phrases_.length(p) && rank(p - 1, i) == rank(p, i)) ++i;
    if (rank(p - 1, i) >= rank(p, i)) throw Error("the source phrases are not in byte order: build the table again");
  }
}

IndexRange PhraseFinder::narrow(IndexRange phrases, std::size_t n, WordId word) const {
  if (word + std::size_t{1} >= ranks_.size()) return {0, 0};
  const auto first = first_from(phrases, n, ranks_[word]);
  // Most words have few phrases, so the end is near.
  std::size_t step = 1;
  while (first + step < phrases.last && rank(first + step, n) <= ranks_[word]) step *= 2;
  return {first, first_from({first + step / 2, std::min(first + step, phrases.last)}, n, ranks_[word] + 1)};
}

std::uint32_t PhraseFinder::ending(IndexRange phrases, std::size_t n) const {
  const auto at = first_from(phrases, n, ranks_.back());
  return at < phrases.last && phrases_.length(at) == n ? static_cast<std::uint32_t>(at) : kNoPhrase;
}

}  // namespace hyperbaton
