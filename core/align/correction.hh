// What replaces the posteriors of the hidden Markov models: those of a network, or given ones.
#pragma once

#include <functional>
#include <span>

#include "align/links.hh"
#include "align/pair_posteriors.hh"

namespace hyperbaton {

// Throws unless the links of sentence pairs begin … end − 1 lie inside them.
void check_links(LinksView links, BitextView bitext, std::size_t begin, std::size_t end);

class PosteriorCorrection {
 public:
  virtual ~PosteriorCorrection() = default;
  // Replaces the posteriors of a sentence pair, given its number.
  using Step = std::function<void(std::size_t, PairPosteriors&)>;
  // A step for sentence pairs begin … end − 1, to be used before the views end.
  virtual Step prepare(const AlignmentModel& model, BitextView bitext, std::size_t begin, std::size_t end) const = 0;
};

// Posteriors computed elsewhere, in borrowed memory; those of links that are not listed are 0.
class GivenPosteriors : public PosteriorCorrection {
 public:
  // `values` has two posteriors for each link: to the target, to the source.
  GivenPosteriors(LinksView links, std::span<const float> values) : links_(links), values_(values) {}
  Step prepare(const AlignmentModel& model, BitextView bitext, std::size_t begin, std::size_t end) const override;

 private:
  LinksView links_;
  std::span<const float> values_;
};

}  // namespace hyperbaton
