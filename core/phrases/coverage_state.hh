// A compact state of the coverage around a phrase, for which orientation models can have weights.
//
// It consists of the words next to the phrase on its left and right (translated or not, or the end of the sentence), and
// how many words remain to be translated on its left and right.
#pragma once

#include <cstdint>
#include <vector>

#include "phrases/sample_coverage.hh"

namespace hyperbaton {

inline constexpr std::size_t kCoverageStates = 3 * 3 * 3 * 3;

// ((left · 3 + right) · 3 + remaining words on the left) · 3 + remaining words on the right. Neighbours: 0 none, 1
// translated, 2 not. Remaining words: 0 none, 1 few, 2 more.
inline std::size_t coverage_state(const Coverage& visited, int n_words, SourceSpan phrase) {
  const auto neighbour = [&](int word) -> std::size_t { return word < 0 || word >= n_words ? 0 : visited[word] ? 1 : 2; };
  const auto amount = [](int n, int few) -> std::size_t { return n == 0 ? 0 : n <= few ? 1 : 2; };
  constexpr int kFewLeft = 2, kFewRight = 6;  // gaps are rarer and smaller than the untranslated rest
  const int left = phrase.begin - visited.count({0, phrase.begin});
  const int right = n_words - phrase.end - visited.count({phrase.end, n_words});
  return ((neighbour(phrase.begin - 1) * 3 + neighbour(phrase.end)) * 3 + amount(left, kFewLeft)) * 3 +
         amount(right, kFewRight);
}

// The state of each sample; unlinked words count as visited with their neighbours.
inline std::vector<std::uint8_t> coverage_states_of_samples(const SamplePlaces& samples, LinksView links,
                                                            SentenceLengths source) {
  std::vector<std::uint8_t> states;
  for_each_sample(samples, links, source, Unlinked::WithNeighbours, [&](const SampleStep& step) {
    states.push_back(static_cast<std::uint8_t>(coverage_state(step.visited, step.n_words, step.phrase)));
  });
  return states;
}

}  // namespace hyperbaton
