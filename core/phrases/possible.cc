#include "phrases/possible.hh"

#include <algorithm>

#include "base/errors.hh"
#include "phrases/distance_classes.hh"

namespace hyperbaton {

PossibleClasses::PossibleClasses(std::vector<std::int32_t> cuts) : is_distance_(true), cuts_(std::move(cuts)) {
  if (cuts_.size() >= kMost) throw Error("possible classes are known of sets of at most 24 classes");
}

PossibleClasses::PossibleClasses(const std::array<std::uint8_t, 4>& merge) : is_distance_(false), merge_(merge) {
  if (std::ranges::max(merge_) >= kMost) throw Error("possible classes are known of sets of at most 24 classes");
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
  std::vector<std::uint32_t> masks, words;
  std::vector<Link> by_target;
  std::size_t at = 0;
  for (std::size_t i = 0; i < samples.sentence.size(); ++i) {
    const std::size_t s = samples.sentence[i];
    const int n_words = source[s], target = samples.target_begin[i];
    const bool new_sentence = i == 0 || s != samples.sentence[i - 1];
    if (new_sentence) {
      by_target.assign(links[s].begin(), links[s].end());
      std::ranges::stable_sort(by_target, {}, &Link::target);
    }
    if (new_sentence || target < samples.target_begin[i - 1]) {
      words.assign(Coverage::n_words(n_words), 0);
      at = 0;
    }
    for (; at < by_target.size() && by_target[at].target < target; ++at)
      Coverage::set(words.data(), {by_target[at].source, by_target[at].source + 1});
    const int begin = samples.source_begin[i];
    masks.push_back(classes.mask(Coverage(words.data(), n_words), n_words, {begin, begin + samples.source_length[i]}));
  }
  return masks;
}

}  // namespace hyperbaton
