#include "decode/features/jump.hh"

#include <algorithm>

#include "base/errors.hh"

namespace hyperbaton {

void JumpScorer::check(std::span<const std::int64_t> source_offsets) const {
  const std::size_t n = source_offsets.size() - 1;
  if (offsets.size() != n + 1 || offsets[n] != static_cast<std::int64_t>(matrices.size()))
    throw Error("a matrix of jumps for each sentence is needed");
  for (std::size_t s = 0; s < n; ++s) {
    const auto side = source_offsets[s + 1] - source_offsets[s] + 1;
    if (offsets[s + 1] - offsets[s] != side * side)
      throw Error("a matrix of jumps must have a row and a column more than the sentence has words");
  }
}

JumpFeature::JumpFeature(const JumpScorer& scorer, const Sentence& sentence, const Limits&)
    : weight_(scorer.weight),
      n_words_(sentence.n_words()),
      matrix_(scorer.matrices.data() + scorer.offsets[sentence.number()]) {
  for (std::uint32_t o = 0; o < sentence.n_options(); ++o) {
    auto visits = visit(sentence.links(o), sentence.source(o), scorer.inside);
    visits.weighted_inner = scorer.weight * visits.inner;
    visits_.push_back(visits);
  }
}

JumpFeature::Visits JumpFeature::visit(std::span<const Link> links, SourceSpan source, bool inside) const {
  Visits visits{-1, -1, 0, 0};
  // Words in the order of their first target word, then of the source; links come by source word, then target word.
  std::vector<Link> firsts;
  for (const auto link : links)
    if (firsts.empty() || firsts.back().source != link.source) firsts.push_back(link);
  std::ranges::stable_sort(firsts, {}, &Link::target);
  for (const auto link : firsts) {
    const std::int32_t position = source.begin + link.source;
    if (visits.first < 0)
      visits.first = position;
    else if (inside)
      visits.inner += jump(row_of(visits.last), position);
    visits.last = position;
  }
  return visits;
}

}  // namespace hyperbaton
