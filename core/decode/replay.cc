// The features of a whole translation, step by step, unweighted.
#include <algorithm>
#include <cstdlib>

#include "decode/space.hh"

namespace hyperbaton {

void Space::replay(std::span<const std::uint32_t> path, std::vector<float>& features) {
  const std::size_t n = n_step_features(input_);
  std::vector<std::uint32_t> state(state_size_);
  start(state);
  std::vector<LmState> contexts;
  for (const auto& lm : input_.lms) contexts.push_back(lm.model.begin_state());
  Move move;
  for (std::size_t i = 0; i < path.size(); ++i) {
    const std::size_t option = first_option_ + path[i];
    const auto& span = span_of(path[i]);
    prepare(state.data(), 0, span, move);
    float weighted;
    apply(state.data(), path[i], move, weighted);

    const std::size_t base = features.size();
    features.resize(base + n, 0.0F);
    float* next = features.data() + base;
    const auto distance = static_cast<float>(std::abs(move.previous.end - move.next.begin));
    *next++ = -distance;
    for (std::size_t k = 0; k < input_.lms.size(); ++k, ++next)
      for (const auto word : input_.options.target(option)) {
        LmState out;
        *next += input_.lms[k].model.score(contexts[k], input_.lms[k].words[word], out);
        contexts[k] = out;
      }
    for (std::size_t k = 0; k < input_.option_scorers.size(); ++k) {
      const auto& scorer = input_.option_scorers[k];
      const bool after = scorer.side == Side::After;
      if (!after || i > 0) {
        const std::size_t row = after ? first_option_ + path[i - 1] : option, column = move.classes[k];
        const float score = scorer.scores[row * scorer.n_classes + column];
        next[scorer.n_features() == 1 ? 0 : column] += scorer.times_distance ? score * distance : score;
      }
      next += scorer.n_features();
    }
    for (std::size_t k = 0; k < input_.jump_scorers.size(); ++k, ++next) {
      const auto visited = visit(input_.jump_scorers[k], path[i]);
      if (visited.first >= 0)
        *next += visited.inner +
                 jump(input_.jump_scorers[k], static_cast<std::int32_t>(state[at_jumps_ + k]) - 1, visited.first);
    }
    for (std::size_t k = 0; k < input_.step_scorers.size(); ++k, ++next) {
      StepBatch batch{sentence_, n_words_, {}, {}, {}, {}, {}};
      add_step(batch, k, state.data(), path[i]);
      std::int64_t behind;
      input_.step_scorers[k].scorer->score(batch, std::span(next, 1), std::span(&behind, 1));
      set_step_state(move.state.data(), k, behind);
    }
    const auto own =
        std::span(input_.options.features).subspan(option * input_.options.n_features, input_.options.n_features);
    std::ranges::copy(own, next);
    state = move.state;
  }
  // The end of the sentence.
  const std::size_t base = features.size();
  features.resize(base + n, 0.0F);
  if (n_words_ == 0) return;  // nothing in, nothing out: no cost
  for (std::size_t k = 0; k < input_.lms.size(); ++k) {
    LmState out;
    features[base + 1 + k] = input_.lms[k].model.score(contexts[k], input_.lms[k].model.eos(), out);
  }
  std::size_t at = base + 1 + input_.lms.size();
  for (const auto& scorer : input_.option_scorers) at += scorer.n_features();
  for (std::size_t k = 0; k < input_.jump_scorers.size(); ++k)
    features[at + k] = jump(input_.jump_scorers[k], static_cast<std::int32_t>(state[at_jumps_ + k]) - 1, n_words_);
}

}  // namespace hyperbaton
