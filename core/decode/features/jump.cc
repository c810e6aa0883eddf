#include "decode/features/jump.hh"

namespace hyperbaton {

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
  std::vector<bool> visited(static_cast<std::size_t>(source.end - source.begin));
  // Links come by target word, then source word: the order in which the target visits the source.
  for (const auto link : links) {
    if (visited[link.source]) continue;
    visited[link.source] = true;
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
