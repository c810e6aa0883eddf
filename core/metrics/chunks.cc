#include "metrics/chunks.hh"

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "base/parallel.hh"
#include "base/size.hh"

namespace hyperbaton {

namespace {

// A word of the reference that a word of the hypothesis may match.
struct Place {
  std::uint32_t at;
  std::uint8_t stage;
};

// A run of adjacent matches; longer runs are better, then those of earlier stages.
struct Run {
  std::uint32_t length = 0, late = 0;
  bool better(const Run& other) const { return length != other.length ? length > other.length : late < other.late; }
  bool operator==(const Run&) const = default;
};

// Chunks of equal length and stages do not affect each other's order, so all the best ones are taken in one sweep over
// the words. Memory is linear: a sweep keeps one run for each reference word.
class Chunker {
 public:
  Chunker(std::span<const std::uint32_t> hypothesis, std::span<const std::uint32_t> reference, const MatchesView& matches)
      : match_(hypothesis.size(), kFree), used_(reference.size(), false), runs_(reference.size()) {
    std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> places;  // of reference words
    for (std::uint32_t j = 0; j < reference.size(); ++j) places[reference[j]].push_back(j);
    std::unordered_map<std::uint32_t, std::size_t> numbers;  // of hypothesis words
    for (const auto word : hypothesis) {
      const auto [entry, is_new] = numbers.try_emplace(word, lists_.size());
      number_.push_back(entry->second);
      if (!is_new) continue;
      auto& list = lists_.emplace_back();
      for (auto k = matches.offsets[word]; k < matches.offsets[word + 1]; ++k)
        if (const auto at = places.find(matches.words[to_size(k)]); at != places.end())
          for (const auto j : at->second) list.push_back({j, matches.stages[to_size(k)]});
      // From the right, so that a sweep may overwrite the runs that it reads.
      std::ranges::sort(list, std::ranges::greater(), &Place::at);
    }
  }

  ChunkCounts count(Poll& poll) {
    for (Run best = sweep(poll, nullptr); best.length > 0; best = sweep(poll, nullptr)) {
      sweep(poll, &best);
      for (auto& list : lists_) std::erase_if(list, [&](const Place& place) { return used_[place.at]; });
    }
    ChunkCounts counts{0, 0};
    std::uint32_t before = kFree;
    std::size_t last = 0;
    for (std::size_t i = 0; i < match_.size(); ++i) {
      if (match_[i] == kFree) continue;
      counts.chunks += counts.matches == 0 || last + 1 != i || before + 1 != match_[i];
      ++counts.matches;
      before = match_[i];
      last = i;
    }
    return counts;
  }

 private:
  static constexpr std::uint32_t kFree = 0xffffffffU;
  static constexpr std::size_t kNever = ~std::size_t{0};
  struct RunAt {
    std::size_t row = kNever;  // the hypothesis word at which the run ends
    Run run;
  };

  // The best run of free words; with `wanted`, take all runs like it.
  Run sweep(Poll& poll, const Run* wanted) {
    Run best;
    std::ranges::fill(runs_, RunAt{});
    for (std::size_t i = 0; i < match_.size(); ++i) {
      if (match_[i] != kFree) continue;
      poll.check();
      const auto& list = lists_[number_[i]];
      std::uint32_t end = kFree;
      for (const auto [j, stage] : list) {
        if (used_[j]) continue;
        Run run{1, stage};
        if (j > 0 && i > 0 && runs_[j - 1].row == i - 1) run = {runs_[j - 1].run.length + 1, runs_[j - 1].run.late + stage};
        runs_[j] = {i, run};
        if (run.better(best)) best = run;
        if (wanted && run == *wanted) end = j;  // keep the leftmost
      }
      if (end == kFree) continue;
      for (std::uint32_t k = 0; k < wanted->length; ++k) {
        match_[i - k] = end - k;
        used_[end - k] = true;
      }
      // No run continues from a word that is taken.
      for (const auto& place : list) runs_[place.at].row = kNever;
    }
    return best;
  }

  std::vector<std::size_t> number_;  // of each hypothesis word, among the lists
  std::vector<std::vector<Place>> lists_;
  std::vector<std::uint32_t> match_;  // the reference word of each hypothesis word
  std::vector<bool> used_;            // reference words
  std::vector<RunAt> runs_;           // by the reference word at which they end
};

}  // namespace

std::vector<ChunkCounts> count_chunks(const WordsView& hypotheses, const WordsView& references,
                                      std::span<const std::int64_t> line, const MatchesView& matches, unsigned n_threads,
                                      const Progress& progress) {
  return count_pairs(
      hypotheses, references, line, kFewSentences, n_threads, progress,
      [&](auto hypothesis, auto reference, Poll& poll) { return Chunker(hypothesis, reference, matches).count(poll); });
}

}  // namespace hyperbaton
