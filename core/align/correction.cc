#include "align/correction.hh"

#include "base/errors.hh"

namespace hyperbaton {

void check_links(LinksView links, BitextView bitext, std::size_t begin, std::size_t end) {
  if (links.offsets.size() != bitext.n_sentences() + 1) throw Error("the links do not match the texts");
  for (std::size_t s = begin; s < end; ++s)
    for (const auto link : links[s])
      if (link.source >= bitext.source[s].size() || link.target >= bitext.target[s].size())
        throw Error("a link is out of range for its sentence pair");
}

PosteriorCorrection::Step GivenPosteriors::prepare(const AlignmentModel&, BitextView bitext, std::size_t begin,
                                                   std::size_t end) const {
  if (values_.size() != 2 * links_.points.size()) throw Error("the posteriors do not match their links");
  check_links(links_, bitext, begin, end);
  return [this](std::size_t s, PairPosteriors& pair) {
    const std::size_t n = pair.n_source(), m = pair.n_target();
    std::array<std::vector<float>, 2> posteriors{std::vector<float>(n * m, 0), std::vector<float>(n * m, 0)};
    const float* both = values_.data() + 2 * links_.offsets[s];
    for (const auto link : links_[s]) {
      posteriors[kToTarget][link.target * n + link.source] = *both++;
      posteriors[kToSource][link.source * m + link.target] = *both++;
    }
    pair.replace(std::move(posteriors));
  };
}

}  // namespace hyperbaton
