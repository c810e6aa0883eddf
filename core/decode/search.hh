// Stack search for the best translation of a sentence; stacks by the number of covered words.
#pragma once

#include <vector>

#include "base/parallel.hh"
#include "decode/chart.hh"
#include "decode/grids.hh"
#include "decode/space.hh"

namespace hyperbaton {

// How stacks are filled: by all steps (search.cc), or by the most promising ones (cube.cc, refine.cc).
enum class SearchKind : std::uint8_t { Stack, Cube, Refine };

struct SearchSettings {
  SearchKind kind;
  Beam beam;
  std::size_t pop_limit;  // cube pruning and refinement: hypotheses made for a stack
  Limits limits;
};

// Fill stacks 0 … n_words. The last one contains complete translations, whose scores include the end of the sentence.
class Search {
 public:
  Search(Space& space, const SearchSettings& settings, bool keep_arcs, Poll& poll);
  // False if no hypothesis covers the sentence.
  bool run();

  const Chart& chart() const { return chart_; }
  std::span<const Stack> stacks() const { return stacks_; }
  const SearchCounts& counts() const { return counts_; }
  // For code that uses the result: throws Cancelled if the search should stop.
  void poll() const { poll_(); }

 private:
  // A step scored by all features but the batched ones.
  struct Candidate {
    std::uint32_t previous, option;
    double score;
    float future, ahead;
    std::size_t stack;
    double estimate() const { return score + future + ahead; }
  };

  void search_stacks();
  void search_cubes();
  void search_refined();
  template <class OnSpan>
  void for_each_span(std::uint32_t id, const OnSpan& on_span);
  void add(const Candidate& candidate, std::uint32_t* state);
  void flush();
  // Add the end of the sentence if it is reached; false if the translation is not the forced one.
  bool finished(Candidate& candidate, const std::uint32_t* state);
  void insert(Candidate candidate, const std::uint32_t* state);
  void keep(const Candidate& candidate, const std::uint32_t* state);

  friend class Cubes;
  friend class Refinement;
  Space& space_;
  const SearchSettings settings_;
  Poll& poll_;
  Chart chart_;
  std::vector<Stack> stacks_;
  SearchCounts counts_;
  Grids grids_;
  std::vector<Candidate> waiting_;
  std::vector<std::uint32_t> waiting_states_;
  std::vector<BatchedStep> batch_;
};

template <class OnSpan>
void Search::for_each_span(std::uint32_t id, const OnSpan& on_span) {
  const std::uint32_t* state = chart_.state(id);
  const Coverage covered = space_.coverage(state);
  const int first_gap = covered.next_gap(0), previous_end = space_.previous_end(state);
  for (int begin = first_gap; begin < space_.n_words(); begin = covered.next_gap(begin + 1)) {
    poll_();
    const auto spans = space_.spans_from(begin);
    counts_.spans += static_cast<std::int64_t>(spans.size());
    if (!space_.reachable(previous_end, begin)) {
      counts_.spans_cut += static_cast<std::int64_t>(spans.size());
      continue;
    }
    const int gap_end = covered.next_covered(begin);
    for (const auto& span : spans) {
      if (span.source.end > gap_end) break;
      if (!space_.allowed(state, first_gap, span.source) || space_.skips(state, first_gap, span.source)) {
        ++counts_.spans_cut;
        continue;
      }
      on_span(state, span);
    }
  }
}

}  // namespace hyperbaton
