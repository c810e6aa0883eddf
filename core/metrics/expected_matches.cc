#include "metrics/expected_matches.hh"

#include <algorithm>
#include <limits>

#include "base/size.hh"

namespace hyperbaton {

namespace {

constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

// An n-gram of a candidate: the number of its first n - 1 words and its last word, and the place of its first word.
struct Occurrence {
  std::uint64_t key;
  std::uint32_t candidate, place;
};

class ListMatches {
 public:
  ListMatches(const WordsView& candidates, std::span<const double> probabilities, std::size_t max_order)
      : candidates_(candidates), probabilities_(probabilities), max_order_(max_order) {}

  // Fill in the rows of the candidates of one list.
  void fill(std::size_t begin, std::size_t end, std::span<double> rows, Poll& poll) {
    const auto first_word = to_size(candidates_.offsets[begin]);
    numbers_.assign(to_size(candidates_.offsets[end]) - first_word, 0);
    for (std::size_t n = 1; n <= max_order_; ++n) {
      occurrences_.clear();
      for (auto c = begin; c < end; ++c) {
        const auto words = candidates_[c];
        const auto start = to_size(candidates_.offsets[c]) - first_word;
        for (std::size_t i = 0; i + n <= words.size(); ++i)
          occurrences_.push_back({std::uint64_t{numbers_[start + i]} << 32 | words[i + n - 1],
                                  static_cast<std::uint32_t>(c), static_cast<std::uint32_t>(start + i)});
      }
      std::ranges::sort(occurrences_, [](const Occurrence& a, const Occurrence& b) {
        return a.key != b.key ? a.key < b.key : a.candidate < b.candidate;
      });
      std::uint32_t number = 0;
      for (auto at = occurrences_.begin(); at != occurrences_.end(); ++number) {
        poll();
        const auto next =
            std::ranges::find_if(at, occurrences_.end(), [&](const Occurrence& o) { return o.key != at->key; });
        for (const auto& occurrence : std::span(at, next)) numbers_[occurrence.place] = number;
        add(std::span(at, next), rows, n);
        at = next;
      }
    }
  }

 private:
  // Add the expected matches of one n-gram.
  void add(std::span<const Occurrence> occurrences, std::span<double> rows, std::size_t n) {
    at_least_.clear();
    each_candidate(occurrences, [&](std::uint32_t candidate, std::size_t count) {
      if (count > at_least_.size()) at_least_.resize(count, 0);
      for (std::size_t i = 0; i < count; ++i) at_least_[i] += probabilities_[candidate];
    });
    each_candidate(occurrences, [&](std::uint32_t candidate, std::size_t count) {
      for (std::size_t i = 0; i < count; ++i) rows[candidate * max_order_ + n - 1] += at_least_[i];
    });
  }

  template <class Use>
  static void each_candidate(std::span<const Occurrence> occurrences, const Use& use) {
    for (std::size_t i = 0; i < occurrences.size();) {
      auto j = i + 1;
      while (j < occurrences.size() && occurrences[j].candidate == occurrences[i].candidate) ++j;
      use(occurrences[i].candidate, j - i);
      i = j;
    }
  }

  const WordsView& candidates_;
  const std::span<const double> probabilities_;
  const std::size_t max_order_;
  std::vector<std::uint32_t> numbers_;  // of the n-gram that begins at each word
  std::vector<Occurrence> occurrences_;
  std::vector<double> at_least_;  // probability of at least 1, 2, … occurrences
};

}  // namespace

std::vector<double> expected_matches(const WordsView& candidates, std::span<const std::int64_t> lists,
                                     std::span<const double> probabilities, std::size_t max_order, unsigned n_threads,
                                     const Progress& progress) {
  if (candidates.values.size() >= kNone || candidates.size() >= kNone) throw Error("too many translations at once");
  std::vector<double> rows(candidates.size() * max_order, 0);
  parallel_chunks(lists.size() - 1, 1, n_threads, progress, [&](std::size_t begin, std::size_t end, Poll& poll) {
    ListMatches matches(candidates, probabilities, max_order);
    for (auto l = begin; l < end; ++l) matches.fill(to_size(lists[l]), to_size(lists[l + 1]), rows, poll);
  });
  return rows;
}

}  // namespace hyperbaton
