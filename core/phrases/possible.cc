#include "phrases/possible.hh"

#include <algorithm>

#include "base/errors.hh"
#include "phrases/distance_classes.hh"

namespace hyperbaton {

PossibleClasses::PossibleClasses(std::vector<std::int32_t> cuts) : is_distance_(true), cuts_(std::move(cuts)) {
  if (cuts_.size() >= kMost) throw Error("possible classes are supported only for sets of at most 24 classes");
}

PossibleClasses::PossibleClasses(const std::array<std::uint8_t, 4>& merge) : is_distance_(false), merge_(merge) {
  if (std::ranges::max(merge_) >= kMost) throw Error("possible classes are supported only for sets of at most 24 classes");
}

std::uint32_t PossibleClasses::of_distances(const Coverage& visited, int n_words, int begin) const {
  if (visited.next_covered(0) >= n_words) return 1U << distance_class(-begin, cuts_);
  std::uint32_t mask = 0;
  for (std::size_t c = 0; c <= cuts_.size(); ++c) {
    // Words p with p + 1 − begin in the class.
    const int from = c == 0 ? 0 : std::max(0, cuts_[c - 1] + begin - 1);
    const int to = c == cuts_.size() ? n_words : std::min(n_words, cuts_[c] + begin - 1);
    if (from < to && visited.next_covered(from) < to) mask |= 1U << c;
  }
  return mask;
}

std::uint32_t PossibleClasses::of_orientations(const Coverage& visited, int n_words, SourceSpan phrase) const {
  std::uint32_t mask = 0;
  const auto add = [&](Orientation orientation) { mask |= 1U << merge_[static_cast<std::size_t>(orientation)]; };
  if (visited.next_covered(0) >= n_words) {
    add(first_step_orientation(phrase));
    return mask;
  }
  if (phrase.begin > 0 && visited[phrase.begin - 1]) add(Orientation::Monotone);
  if (phrase.end < n_words && visited[phrase.end]) add(Orientation::Swap);
  if (visited.next_covered(phrase.end + 1) < n_words) add(Orientation::DiscontinuousLeft);
  if (visited.next_covered(0) < phrase.begin - 1) add(Orientation::DiscontinuousRight);
  return mask;
}

std::vector<std::uint32_t> possible_of_samples(const SamplePlaces& samples, LinksView links, SentenceLengths source,
                                               const PossibleClasses& classes) {
  std::vector<std::uint32_t> masks;
  for_each_sample(samples, links, source, classes.unlinked(),
                  [&](const SampleStep& step) { masks.push_back(classes.mask(step.visited, step.n_words, step.phrase)); });
  return masks;
}

}  // namespace hyperbaton
