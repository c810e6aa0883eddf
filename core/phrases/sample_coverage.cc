#include "phrases/sample_coverage.hh"

#include <algorithm>
#include <vector>

namespace hyperbaton {

namespace {

// Add the unlinked runs whose neighbours are visited, see Unlinked::WithNeighbours.
void add_unlinked(const Coverage& linked, const Coverage& visited, int n_words, SourceSpan phrase,
                  std::vector<std::uint32_t>& words) {
  enum class Beside : std::uint8_t { Visited, NotVisited, Open };
  const auto beside = [&](int word) {
    if (word < 0 || word >= n_words || (word >= phrase.begin && word < phrase.end)) return Beside::Open;
    return visited[word] ? Beside::Visited : Beside::NotVisited;
  };
  for (int begin = linked.next_gap(0); begin < n_words;) {
    if (begin >= phrase.begin && begin < phrase.end) {
      begin = linked.next_gap(phrase.end);
      continue;
    }
    int end = linked.next_covered(begin);
    if (begin < phrase.begin) end = std::min(end, phrase.begin);
    const auto left = beside(begin - 1), right = beside(end);
    if (left != Beside::NotVisited && right != Beside::NotVisited && (left == Beside::Visited || right == Beside::Visited))
      Coverage::set(words.data(), {begin, end});
    begin = linked.next_gap(end);
  }
}

}  // namespace

void for_each_sample(const SamplePlaces& samples, LinksView links, SentenceLengths source, Unlinked unlinked,
                     const std::function<void(const SampleStep&)>& use) {
  std::vector<std::uint32_t> visited, linked, with_unlinked;
  std::vector<Link> by_target;
  std::size_t at = 0;
  for (std::size_t i = 0; i < samples.sentence.size(); ++i) {
    const std::size_t s = samples.sentence[i];
    const int n_words = source[s], target = samples.target_begin[i], begin = samples.source_begin[i];
    const bool new_sentence = i == 0 || s != samples.sentence[i - 1];
    if (new_sentence) {
      by_target.assign(links[s].begin(), links[s].end());
      std::ranges::stable_sort(by_target, {}, &Link::target);
      linked.assign(Coverage::n_words(n_words), 0);
      for (const auto link : by_target) Coverage::set(linked.data(), {link.source, link.source + 1});
    }
    if (new_sentence || target < samples.target_begin[i - 1]) {
      visited.assign(Coverage::n_words(n_words), 0);
      at = 0;
    }
    for (; at < by_target.size() && by_target[at].target < target; ++at)
      Coverage::set(visited.data(), {by_target[at].source, by_target[at].source + 1});
    const SourceSpan phrase{begin, begin + samples.source_length[i]};
    if (unlinked == Unlinked::NotVisited) {
      use({i, Coverage(visited.data(), n_words), n_words, phrase});
      continue;
    }
    with_unlinked = visited;
    add_unlinked(Coverage(linked.data(), n_words), Coverage(visited.data(), n_words), n_words, phrase, with_unlinked);
    use({i, Coverage(with_unlinked.data(), n_words), n_words, phrase});
  }
}

}  // namespace hyperbaton
