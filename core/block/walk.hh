// Walk along a path of blocks and provide the history at each step. Training walks along the links of a sentence pair,
// the decoder along the inner links of one phrase pair after the other: the same words in the same order give the same
// steps.
#pragma once

#include <vector>

#include "block/path.hh"
#include "block/questions.hh"

namespace hyperbaton {

struct PathState {
  std::vector<std::uint32_t> covered;  // words of a Coverage
  int last;                            // source word translated last, -1 at first
  WordId last_target, second_last_target;

  void start(int n_words) {
    covered.assign(Coverage::n_words(n_words), 0);
    last = -1;
    last_target = second_last_target = kSentenceEdge;
  }
};

// Call visit(step, span, jump class, history) for each step, and leave the state after the last one. `shift` is the
// position of the path's first source word in the sentence of n_words; `target` contains the target words of the path.
template <class Visit>
void walk(std::span<const PathStep> steps, int shift, int n_words, std::span<const WordId> target, PathState& state,
          const Visit& visit) {
  const auto before = [&](int position) {
    if (position >= 0) return target[to_size(position)];
    return position == -1 ? state.last_target : state.second_last_target;
  };
  for (const auto& step : steps) {
    const SourceSpan span{step.source.begin + shift, step.source.end + shift};
    const History history{Coverage(state.covered.data(), n_words), before(step.before - 1), before(step.before - 2)};
    visit(step, span, jump_class(state.last, span.begin), history);
    Coverage::set(state.covered.data(), span);
    state.last = span.end - 1;
  }
  const int n = static_cast<int>(target.size());
  const WordId last = before(n - 1), second_last = before(n - 2);
  state.last_target = last;
  state.second_last_target = second_last;
}

}  // namespace hyperbaton
