#include "decode/space.hh"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <utility>

namespace hyperbaton {

namespace {

constexpr float kNever = -std::numeric_limits<float>::infinity();

template <class T>
std::span<const T> of_sentence(std::span<const T> all, std::size_t sentence) {
  const auto [first, last] = std::ranges::equal_range(all, sentence, {}, &T::sentence);
  return {first, last};
}

}  // namespace

std::size_t n_step_features(const DecodeInput& input) {
  std::size_t n = 1 + input.lms.size() + input.jump_scorers.size() + input.step_scorers.size() + input.options.n_features;
  for (const auto& scorer : input.option_scorers) n += scorer.n_features();
  return n;
}

Space::Space(const DecodeInput& input, std::size_t sentence, const Limits& limits)
    : input_(input), sentence_(sentence), limits_(limits) {
  n_words_ = static_cast<int>(input.source_offsets[sentence + 1] - input.source_offsets[sentence]);
  first_option_ = static_cast<std::size_t>(input.options.offsets[sentence]);
  n_options_ = static_cast<std::size_t>(input.options.offsets[sentence + 1]) - first_option_;
  if (limits.constraints) {
    walls_ = of_sentence(input.walls, sentence);
    zones_ = of_sentence(input.zones, sentence);
  }
  is_forced_ = input.forced.any();
  if (is_forced_) forced_ = input.forced[sentence];
  find_spans();
  fill_future();
  for (std::size_t o = 0; o < n_options_; ++o) targets_.push_back(input.options.target(first_option_ + o));
  for (const auto& lm : input.lms) lms_.emplace_back(lm, targets_);
  weigh_options();
  weigh_jumps();
  lay_out_state();
}

void Space::find_spans() {
  const auto& options = input_.options;
  span_offsets_.assign(static_cast<std::size_t>(n_words_) + 1, 0);
  for (std::size_t o = 0; o < n_options_; ++o) {
    const int begin = options.begin[first_option_ + o], end = begin + options.length[first_option_ + o];
    if (spans_.empty() || spans_.back().source.begin != begin || spans_.back().source.end != end) {
      spans_.push_back({{begin, end}, static_cast<std::uint32_t>(o), static_cast<std::uint32_t>(o)});
      ++span_offsets_[static_cast<std::size_t>(begin) + 1];
    }
    ++spans_.back().last;
  }
  for (std::size_t i = 1; i < span_offsets_.size(); ++i) span_offsets_[i] += span_offsets_[i - 1];
}

// The same, with what the scorers of steps expect.
float Space::expected(const Span& span) const {
  float best = kNever;
  for (auto option = span.first; option < span.last; ++option) {
    float score = estimate(option);
    for (const auto& steps : input_.step_scorers)
      score += steps.weight * steps.scorer->estimate(sentence_, static_cast<std::int64_t>(first_option_ + option));
    best = std::max(best, score);
  }
  return best;
}

// The best that the options of a span promise, or those of its two parts.
void Space::fill_future() {
  const auto n = static_cast<std::size_t>(n_words_), stride = n + 1;
  future_.assign(stride * stride, kNever);
  for (std::size_t i = 0; i <= n; ++i) future_[i * stride + i] = 0;
  for (const auto& span : spans_) {
    // Options come with the best estimate first.
    future_[static_cast<std::size_t>(span.source.begin) * stride + static_cast<std::size_t>(span.source.end)] =
        has_steps() ? expected(span) : estimate(span.first);
  }
  for (std::size_t length = 2; length <= n; ++length)
    for (std::size_t begin = 0; begin + length <= n; ++begin) {
      float& best = future_[begin * stride + begin + length];
      for (std::size_t middle = begin + 1; middle < begin + length; ++middle)
        best = std::max(best, future_[begin * stride + middle] + future_[middle * stride + begin + length]);
    }
}

void Space::weigh_options() {
  for (const auto& scorer : input_.option_scorers) {
    auto& weighted = weighted_.emplace_back(n_options_ * scorer.n_classes);
    for (std::size_t i = 0; i < weighted.size(); ++i)
      weighted[i] = scorer.scores[first_option_ * scorer.n_classes + i] * scorer.weight(i % scorer.n_classes);
    auto& rows = rows_.emplace_back();
    if (scorer.side == Side::After) {
      Interner numbers;
      std::vector<std::uint32_t> first;
      for (std::size_t o = 0; o < n_options_; ++o) {
        const auto row = std::span<const float>(weighted).subspan(o * scorer.n_classes, scorer.n_classes);
        const auto [number, is_new] = numbers.number(row);
        if (is_new) first.push_back(static_cast<std::uint32_t>(o));
        rows.push_back(first[number]);
      }
    }
    const bool on_blocks = scorer.rule == StepRule::Block;
    needs_stack_ |= on_blocks && scorer.side == Side::Before;
    needs_end_ |= !on_blocks || scorer.side == Side::After;
    needs_begin_ |= scorer.rule == StepRule::Neighbour || (on_blocks && scorer.side == Side::After);
  }
  needs_end_ |= input_.distortion_weight != 0 || limits_.distortion >= 0 || limits_.distance.future || has_steps();
}

Space::JumpOption Space::visit(const JumpScorer& scorer, std::uint32_t option) const {
  const auto begin = static_cast<std::int32_t>(input_.options.begin[first_option_ + option]);
  JumpOption found{-1, -1, 0};
  std::vector<bool> visited(input_.options.length[first_option_ + option]);
  // Links come by target word, then source word: the order in which the target visits the source.
  for (const auto link : input_.options.links_of(first_option_ + option)) {
    if (visited[link.source]) continue;
    visited[link.source] = true;
    const std::int32_t position = begin + link.source;
    if (found.first < 0)
      found.first = position;
    else if (scorer.inside)
      found.inner += jump(scorer, found.last, position);
    found.last = position;
  }
  return found;
}

void Space::weigh_jumps() {
  for (const auto& scorer : input_.jump_scorers) {
    auto& jumps = jumps_.emplace_back();
    for (std::uint32_t o = 0; o < n_options_; ++o) {
      jumps.push_back(visit(scorer, o));
      jumps.back().inner *= scorer.weight;
    }
  }
}

void Space::lay_out_state() {
  std::size_t at = Coverage::n_words(n_words_);
  const auto take = [&](std::size_t n) { return std::exchange(at, at + n); };
  at_previous_ = take(1);
  at_stack_ = take(needs_stack_ ? 1 : 0);
  at_lms_ = take(lms_.size());
  at_rows_ = take(input_.option_scorers.size());
  at_jumps_ = take(input_.jump_scorers.size());
  at_steps_ = take(2 * input_.step_scorers.size());
  at_forced_ = take(is_forced_ ? 1 : 0);
  state_size_ = at;
}

void Space::start(std::span<std::uint32_t> state) const {
  std::ranges::fill(state, 0);
  for (std::size_t i = 0; i < lms_.size(); ++i) state[at_lms_ + i] = lms_[i].begin();
}

bool Space::reachable(const std::uint32_t* state, int begin) const {
  return limits_.distortion < 0 || std::abs(begin - previous(state).end) <= limits_.distortion;
}

bool Space::allowed(const std::uint32_t* state, int first_gap, SourceSpan next) const {
  const bool fills_gap = next.begin == first_gap;
  // After this phrase there must be a way back to the first gap.
  if (limits_.distortion >= 0 && !fills_gap && std::abs(next.end - first_gap) > limits_.distortion) return false;
  if (!fills_gap)
    for (const auto wall : walls_)
      if (wall.after >= first_gap && wall.after + 1 < next.end) return false;
  const Coverage before = coverage(state);
  for (const auto zone : zones_) {
    const SourceSpan inside{zone.begin, zone.end};
    if (before.all(inside)) continue;
    const bool meets = next.begin < inside.end && inside.begin < next.end;
    if (!meets && before.any(inside)) return false;
    const bool leaves = next.begin < inside.begin || next.end > inside.end;
    if (meets && leaves) {
      const int begin = std::max(next.begin, inside.begin), end = std::min(next.end, inside.end);
      if (!before.all({inside.begin, begin}) || !before.all({end, inside.end})) return false;
    }
  }
  return true;
}

float Space::future(const std::uint32_t* state) const {
  const Coverage covered = coverage(state);
  const auto stride = static_cast<std::size_t>(n_words_) + 1;
  float sum = 0;
  for (int begin = covered.next_gap(0); begin < n_words_;) {
    const int end = covered.next_covered(begin);
    sum += future_[static_cast<std::size_t>(begin) * stride + static_cast<std::size_t>(end)];
    begin = covered.next_gap(end);
  }
  return sum;
}

std::uint8_t Space::step_class(const OptionScorer& scorer, const Move& move, const Coverage& before,
                               Orientation block) const {
  Orientation orientation;
  if (scorer.rule == StepRule::Distance) {
    return distance_class(move.previous.end - move.next.begin, scorer.cuts);
  } else if (scorer.rule == StepRule::Block && scorer.side == Side::Before) {
    orientation = block;
  } else if (move.first) {
    orientation = first_step_orientation(move.next);
  } else if (scorer.rule == StepRule::Neighbour) {
    orientation = step_orientation(move.previous, move.next);
  } else {
    const Beside beside{move.previous.begin > 0 && before[move.previous.begin - 1],
                        move.previous.end < n_words_ && before[move.previous.end]};
    orientation = block_step_orientation(move.previous, move.next, beside);
  }
  return scorer.merge[static_cast<std::size_t>(orientation)];
}

float Space::row_score(std::size_t scorer, std::uint32_t row, const Move& move) const {
  const auto& made = input_.option_scorers[scorer];
  const float score = weighted_[scorer][row * made.n_classes + move.classes[scorer]];
  return made.times_distance ? score * static_cast<float>(jump_distance(move.previous, move.next)) : score;
}

void Space::prepare(const std::uint32_t* state, float future, const Span& span, Move& move) {
  const Coverage before = coverage(state);
  move.previous = previous(state);
  move.next = span.source;
  move.first = move.previous.end == 0;
  move.state.assign(state, state + state_size_);
  Coverage::set(move.state.data(), span.source);

  const int gap_begin = before.gap_begin(span.source.begin), gap_end = before.next_covered(span.source.end);
  const auto stride = static_cast<std::size_t>(n_words_) + 1;
  const auto cost = [&](int begin, int end) {
    return future_[static_cast<std::size_t>(begin) * stride + static_cast<std::size_t>(end)];
  };
  move.future = future - cost(gap_begin, gap_end) + cost(gap_begin, span.source.begin) + cost(span.source.end, gap_end);
  const int ahead = limits_.distance.ahead(coverage(move.state.data()), span.source.end, n_words_);
  move.ahead = -input_.distortion_weight * static_cast<float>(ahead);

  const bool swap_possible = span.source.begin > 0 && !before[span.source.begin - 1];
  // Only a swap asks where the previous phrase began; step scorers may ask anything.
  const bool keep_begin = has_steps() || (needs_begin_ && swap_possible);
  const auto begin = static_cast<std::uint32_t>(keep_begin ? span.source.begin : 0);
  // Where nobody asks for the end, any will do: only the start of the sentence has 0.
  move.state[at_previous_] = begin << 16 | static_cast<std::uint32_t>(needs_end_ ? span.source.end : 1);

  move.score = -input_.distortion_weight * static_cast<float>(limits_.distance.step(move.previous, span.source, before));
  auto block = Orientation::Monotone;
  if (needs_stack_) {
    const auto shifted = stacks_.shift(state[at_stack_], span.source);
    block = shifted.orientation;
    move.state[at_stack_] = shifted.stack;
  }
  move.first_option = span.first;
  move.lm_rows.resize(lms_.size());
  for (std::size_t k = 0; k < lms_.size(); ++k) move.lm_rows[k] = lms_[k].row(state[at_lms_ + k], span.first, span.last);
  move.classes.resize(input_.option_scorers.size());
  for (std::size_t k = 0; k < move.classes.size(); ++k) {
    const auto& scorer = input_.option_scorers[k];
    move.classes[k] = step_class(scorer, move, before, block);
    if (scorer.side == Side::After && !move.first) move.score += row_score(k, state[at_rows_ + k], move);
  }
}

float Space::guess(const std::uint32_t* state, std::uint32_t option, const Move& move) const {
  float score = move.score + estimate(option);
  for (std::size_t k = 0; k < input_.option_scorers.size(); ++k)
    if (input_.option_scorers[k].side == Side::Before) score += row_score(k, option, move);
  for (std::size_t k = 0; k < input_.jump_scorers.size(); ++k) {
    const auto& scorer = input_.jump_scorers[k];
    const auto& visited = jumps_[k][option];
    if (visited.first < 0) continue;
    const auto from = static_cast<std::int32_t>(state[at_jumps_ + k]) - 1;
    score += scorer.weight * jump(scorer, from, visited.first) + visited.inner;
  }
  return score;
}

bool Space::apply(const std::uint32_t* state, std::uint32_t option, Move& move, float& score) {
  if (is_forced_) {
    const auto done = state[at_forced_];
    const auto target = targets_[option];
    if (target.size() > forced_.size() - done || !std::ranges::equal(target, forced_.subspan(done, target.size())))
      return false;
    move.state[at_forced_] = done + static_cast<std::uint32_t>(target.size());
  }
  score = guess(state, option, move) - estimate(option) + input_.options.score[first_option_ + option];
  for (std::size_t k = 0; k < input_.option_scorers.size(); ++k)
    if (input_.option_scorers[k].side == Side::After) move.state[at_rows_ + k] = rows_[k][option];
  for (std::size_t k = 0; k < input_.jump_scorers.size(); ++k) {
    const auto last = jumps_[k][option].last;
    move.state[at_jumps_ + k] = last < 0 ? state[at_jumps_ + k] : static_cast<std::uint32_t>(last) + 1;
  }
  for (std::size_t k = 0; k < lms_.size(); ++k) {
    const auto scored = lms_[k].extend(move.lm_rows[k], state[at_lms_ + k], move.first_option, option);
    score += scored.score;
    move.state[at_lms_ + k] = scored.state;
  }
  return true;
}

float Space::jump(const JumpScorer& scorer, std::int32_t from, std::int32_t to) const {
  const auto stride = static_cast<std::size_t>(n_words_) + 1;
  const auto base = static_cast<std::size_t>(scorer.offsets[sentence_]);
  return scorer.matrices[base + static_cast<std::size_t>(from + 1) * stride + static_cast<std::size_t>(to)];
}

float Space::finish(const std::uint32_t* state) {
  float score = 0;
  for (std::size_t k = 0; k < lms_.size(); ++k) score += lms_[k].finish(state[at_lms_ + k]);
  for (std::size_t k = 0; k < input_.jump_scorers.size(); ++k)
    score += input_.jump_scorers[k].weight *
             jump(input_.jump_scorers[k], static_cast<std::int32_t>(state[at_jumps_ + k]) - 1, n_words_);
  return score;
}

bool Space::complete(const std::uint32_t* state) const { return !is_forced_ || state[at_forced_] == forced_.size(); }

void Space::add_step(StepBatch& batch, std::size_t scorer, const std::uint32_t* before, std::uint32_t option) const {
  const auto at = at_steps_ + 2 * scorer;
  const auto bits = static_cast<std::uint64_t>(before[at]) | static_cast<std::uint64_t>(before[at + 1]) << 32;
  batch.states.push_back(static_cast<std::int64_t>(bits));
  batch.coverage.insert(batch.coverage.end(), before, before + Coverage::n_words(n_words_));
  batch.previous_begin.push_back(previous(before).begin);
  batch.previous_end.push_back(previous(before).end);
  batch.options.push_back(static_cast<std::int64_t>(first_option_ + option));
}

void Space::ask_steps(const StepBatch& batch, std::size_t scorer, std::span<float> scores,
                      std::span<std::int64_t> states) const {
  const auto& asked = input_.step_scorers[scorer];
  asked.scorer->score(batch, scores, states);
  for (auto& score : scores) score *= asked.weight;
}

void Space::set_step_state(std::uint32_t* state, std::size_t scorer, std::int64_t value) const {
  const auto bits = static_cast<std::uint64_t>(value);
  state[at_steps_ + 2 * scorer] = static_cast<std::uint32_t>(bits);
  state[at_steps_ + 2 * scorer + 1] = static_cast<std::uint32_t>(bits >> 32);
}

const Space::Span& Space::span_of(std::uint32_t option) const {
  return *std::prev(std::ranges::upper_bound(spans_, option, {}, &Span::first));
}

}  // namespace hyperbaton
