// Features of steps, unweighted: of a whole translation, and of single ways in the search graph.
#include <algorithm>

#include "decode/space.hh"

namespace hyperbaton {

// Everything but step scorers, whose columns are left alone.
void Space::add_features(const std::uint32_t* state, std::uint32_t before, std::uint32_t local, const Move& move,
                         float* next) const {
  const std::size_t option = first_option_ + local;
  // Not from the state, which leaves the end of the previous phrase out where distances weigh nothing.
  const auto previous = before == kNone ? SourceSpan{0, 0} : span_of(before).source;
  *next++ = -static_cast<float>(limits_.distance.step(previous, move.next, coverage(state)));
  const auto distance = static_cast<float>(jump_distance(previous, move.next));
  for (std::size_t k = 0; k < input_.lms.size(); ++k, ++next) {
    LmState states[2] = {lms_[k].context(state[at_lms_ + k]), {}};
    int now = 0;
    for (const auto word : input_.options.target(option)) {
      *next += input_.lms[k].model.score(states[now], input_.lms[k].words[word], states[1 - now]);
      now = 1 - now;
    }
  }
  for (std::size_t k = 0; k < input_.option_scorers.size(); ++k) {
    const auto& scorer = input_.option_scorers[k];
    const bool after = scorer.side == Side::After;
    if (!after || before != kNone) {
      const std::size_t row = after ? first_option_ + before : option, column = move.classes[k];
      const float score = scorer.scores[row * scorer.n_classes + column];
      next[scorer.n_features() == 1 ? 0 : column] += scorer.times_distance ? score * distance : score;
    }
    next += scorer.n_features();
  }
  for (std::size_t k = 0; k < input_.jump_scorers.size(); ++k, ++next) {
    const auto visited = visit(input_.jump_scorers[k], local);
    if (visited.first >= 0)
      *next +=
          visited.inner + jump(input_.jump_scorers[k], static_cast<std::int32_t>(state[at_jumps_ + k]) - 1, visited.first);
  }
  next += input_.step_scorers.size();
  const auto own =
      std::span(input_.options.features).subspan(option * input_.options.n_features, input_.options.n_features);
  std::ranges::copy(own, next);
}

void Space::add_end_features(const std::uint32_t* state, float* next) const {
  if (n_words_ == 0) return;  // nothing in, nothing out: no cost
  ++next;
  for (std::size_t k = 0; k < input_.lms.size(); ++k, ++next) {
    LmState out;
    *next += input_.lms[k].model.score(lms_[k].context(state[at_lms_ + k]), input_.lms[k].model.eos(), out);
  }
  for (const auto& scorer : input_.option_scorers) next += scorer.n_features();
  for (std::size_t k = 0; k < input_.jump_scorers.size(); ++k, ++next)
    *next += jump(input_.jump_scorers[k], static_cast<std::int32_t>(state[at_jumps_ + k]) - 1, n_words_);
}

std::size_t Space::step_column() const {
  std::size_t column = 1 + input_.lms.size() + input_.jump_scorers.size();
  for (const auto& scorer : input_.option_scorers) column += scorer.n_features();
  return column;
}

void Space::replay(std::span<const std::uint32_t> path, std::vector<float>& features) {
  const std::size_t n = n_step_features(input_);
  std::vector<std::uint32_t> state(state_size_);
  start(state);
  Move move;
  for (std::size_t i = 0; i < path.size(); ++i) {
    prepare(state.data(), 0, span_of(path[i]), move);
    float weighted;
    apply(state.data(), path[i], move, weighted);
    features.resize(features.size() + n, 0.0F);
    float* row = features.data() + features.size() - n;
    add_features(state.data(), i == 0 ? kNone : path[i - 1], path[i], move, row);
    for (std::size_t k = 0; k < input_.step_scorers.size(); ++k) {
      StepBatch batch{sentence_, n_words_, {}, {}, {}, {}, {}};
      add_step(batch, k, state.data(), path[i]);
      std::int64_t behind;
      input_.step_scorers[k].scorer->score(batch, std::span(row + step_column() + k, 1), std::span(&behind, 1));
      set_step_state(move.state.data(), k, behind);
    }
    state = move.state;
  }
  features.resize(features.size() + n, 0.0F);
  add_end_features(state.data(), features.data() + features.size() - n);
}

std::vector<float> Space::features_of(std::span<const Way> ways) {
  const std::size_t n = n_step_features(input_);
  std::vector<float> features(ways.size() * n, 0.0F);
  Move move;
  for (std::size_t i = 0; i < ways.size(); ++i) {
    prepare(ways[i].state, 0, span_of(ways[i].option), move);
    add_features(ways[i].state, ways[i].before, ways[i].option, move, &features[i * n]);
    if (ways[i].end) add_end_features(ways[i].end, &features[i * n]);
  }
  for (std::size_t k = 0; k < input_.step_scorers.size(); ++k) {
    StepBatch batch{sentence_, n_words_, {}, {}, {}, {}, {}};
    for (const auto& way : ways) add_step(batch, k, way.state, way.option);
    std::vector<float> scores(ways.size());
    std::vector<std::int64_t> behind(ways.size());
    input_.step_scorers[k].scorer->score(batch, scores, behind);
    for (std::size_t i = 0; i < ways.size(); ++i) features[i * n + step_column() + k] = scores[i];
  }
  return features;
}

}  // namespace hyperbaton
