#include "decode/space.hh"

#include <algorithm>
#include <limits>

#include "base/size.hh"

namespace hyperbaton {

namespace {

constexpr float kNever = -std::numeric_limits<float>::infinity();

}  // namespace

std::vector<std::string> DecodeInput::column_names() const {
  auto names = features.column_names();
  if (options.n_features == 0) return names;
  names.resize(n_values() - kOwnFeatures, std::string(kTableFeature));
  names.insert(names.end(), kOwnFeatureNames.begin(), kOwnFeatureNames.end());
  return names;
}

Space::Space(const DecodeInput& input, std::size_t sentence, const Limits& limits)
    : input_(input),
      sentence_(input.options, sentence,
                static_cast<int>(input.source_offsets[sentence + 1] - input.source_offsets[sentence])),
      limits_(limits, sentence, input.walls, input.zones),
      jump_threshold_(limits.jump_threshold),
      itg_(limits.itg),
      is_forced_(input.forced.any()),
      shared_(n_words()),
      features_(input.features, sentence_, limits, shared_.size()),
      needs_(features_.needs()) {
  if (is_forced_) forced_ = input.forced[sentence];
  needs_.end |= limits.distortion >= 0 || jump_threshold_ > 0;
  needs_.stack |= itg_;
  at_stack_ = features_.n_state();
  at_forced_ = at_stack_ + (needs_.stack ? 1 : 0);
  state_size_ = at_forced_ + (is_forced_ ? 1 : 0);
  find_spans();
  fill_future();
}

Space::~Space() {
  features_.each([](auto& placed) { placed.feature.forget(); });
}

void Space::find_spans() {
  span_offsets_.assign(to_size(n_words()) + 1, 0);
  for (std::uint32_t o = 0; o < sentence_.n_options(); ++o) {
    const auto source = sentence_.source(o);
    if (spans_.empty() || spans_.back().source.begin != source.begin || spans_.back().source.end != source.end) {
      spans_.push_back({source, o, o});
      ++span_offsets_[to_size(source.begin) + 1];
    }
    ++spans_.back().last;
  }
  for (std::size_t i = 1; i < span_offsets_.size(); ++i) span_offsets_[i] += span_offsets_[i - 1];
}

// The best estimate of a span's options, including the features' estimates.
float Space::expected(const Span& span) const {
  float best = kNever;
  for (auto option = span.first; option < span.last; ++option) {
    float score = sentence_.estimate(option);
    features_.each([&](const auto& placed) { placed.feature.estimate(option, score); });
    best = std::max(best, score);
  }
  return best;
}

// The best estimate of a span's options, or of its two parts.
void Space::fill_future() {
  const int n = n_words();
  future_.assign((to_size(n) + 1) * (to_size(n) + 1), kNever);
  for (int i = 0; i <= n; ++i) future_cost(i, i) = 0;
  for (const auto& span : spans_) future_cost(span.source.begin, span.source.end) = expected(span);
  for (int length = 2; length <= n; ++length)
    for (int begin = 0; begin + length <= n; ++begin) {
      float& best = future_cost(begin, begin + length);
      for (int middle = begin + 1; middle < begin + length; ++middle)
        best = std::max(best, future_cost(begin, middle) + future_cost(middle, begin + length));
    }
}

void Space::start(std::span<std::uint32_t> state) const {
  std::ranges::fill(state, 0);
  features_.each([&](const auto& placed) { placed.feature.start(state.data() + placed.state); });
}

bool Space::improbable(const std::uint32_t* state, int first_gap, SourceSpan next) {
  if (next.begin == first_gap || next.begin == shared_.previous(state).end) return false;
  float best = -1;
  features_.each([&](auto& placed) { placed.feature.likelihood(coverage(state), state + placed.state, next, best); });
  return best >= 0 && best < jump_threshold_;
}

float Space::future(const std::uint32_t* state) const {
  const Coverage covered = coverage(state);
  float sum = 0;
  for (int begin = covered.next_gap(0); begin < n_words();) {
    const int end = covered.next_covered(begin);
    sum += future_cost(begin, end);
    begin = covered.next_gap(end);
  }
  return sum;
}

void Space::prepare(const std::uint32_t* state, float future, const Span& span, Move& move) {
  const Coverage before = coverage(state);
  const auto [begin, end] = span.source;
  move.n_memos = features_.n_memos();
  move.words.resize(move.n_memos + state_size_);
  std::uint32_t* const after = std::copy_n(state, state_size_, move.state()) - state_size_;
  Coverage::set(after, span.source);

  const int gap_begin = before.gap_begin(begin), gap_end = before.next_covered(end);
  move.future = future - future_cost(gap_begin, gap_end) + future_cost(gap_begin, begin) + future_cost(end, gap_end);

  const bool swap_possible = begin > 0 && !before[begin - 1];
  const bool keep_begin = needs_.begin || (needs_.begin_at_swap && swap_possible);
  // If no feature needs the end, any value other than 0 will do: only the start of the sentence has 0.
  shared_.set_previous(after, {keep_begin ? begin : 0, needs_.end ? end : 1});
  const auto previous = shared_.previous(state);
  move.step = {.before = before,
               .after = coverage(after),
               .previous = previous,
               .next = span.source,
               .first = previous.end == 0,
               .hierarchical = Orientation::Monotone,
               .first_option = span.first,
               .last_option = span.last};
  if (needs_.stack) {
    const auto shifted = stacks_.shift(state[at_stack_], span.source);
    move.step.hierarchical = shifted.orientation;
    after[at_stack_] = shifted.stack;
  }
  move.score = move.ahead = 0;
  features_.each([&](auto& placed) {
    placed.feature.ahead(move.step, move.ahead);
    placed.feature.prepare(move.step, state + placed.state, move.words[placed.memo], move.score);
  });
}

float Space::guess(const std::uint32_t* state, std::uint32_t option, const Move& move) const {
  float score = move.score + sentence_.estimate(option);
  features_.each([&](const auto& placed) {
    placed.feature.guess(move.step, state + placed.state, move.words[placed.memo], option, score);
  });
  return score;
}

bool Space::apply(const std::uint32_t* state, std::uint32_t option, Move& move, float& score) {
  if (is_forced_) {
    const auto done = state[at_forced_];
    const auto target = sentence_.target(option);
    if (target.size() > forced_.size() - done || !std::ranges::equal(target, forced_.subspan(done, target.size())))
      return false;
    move.state()[at_forced_] = done + static_cast<std::uint32_t>(target.size());
  }
  std::uint32_t* const after = move.state();
  score = guess(state, option, move) - sentence_.estimate(option) + sentence_.score(option);
  features_.each([&](auto& placed) {
    placed.feature.extend(move.step, state + placed.state, move.words[placed.memo], option, after + placed.state, score);
  });
  return true;
}

void Space::hide_words(std::uint32_t* state) {
  features_.each_of_words([&](const auto& placed) { state[placed.state] = 0; });
}

void Space::shorten_words(std::uint32_t* state) {
  features_.each_of_words([&](auto& placed) { state[placed.state] = placed.feature.shortened(state[placed.state]); });
}

float Space::correction(const std::uint32_t* state, std::uint32_t option) {
  float score = 0;
  features_.each_of_words([&](auto& placed) { placed.feature.correct(state[placed.state], option, score); });
  return score;
}

float Space::finish(const std::uint32_t* state) {
  float score = 0;
  features_.each([&](auto& placed) { placed.feature.finish(state + placed.state, score); });
  return score;
}

bool Space::complete(const std::uint32_t* state) const { return !is_forced_ || state[at_forced_] == forced_.size(); }

const Space::Span& Space::span_of(std::uint32_t option) const {
  return *std::prev(std::ranges::upper_bound(spans_, option, {}, &Span::first));
}

// Everything but batched features.
void Space::add_values(const GraphStep& way, const Move& move, float* row) const {
  Step step = move.step;
  // Not from the state, which omits the end of the previous phrase if no feature needs it.
  if (!step.first) step.previous = sentence_.source(way.before);
  features_.each([&](const auto& placed) {
    placed.feature.add_values(step, {way.state + placed.state, way.before, way.option}, move.words[placed.memo],
                              row + placed.column);
  });
  std::ranges::copy(sentence_.own_values(way.option), row + input_.features.n_values());
}

void Space::add_batched_values(std::span<const BatchedStep> steps, float* rows) {
  features_.each_batched([&](auto& placed) {
    const auto scores = placed.feature.ask(steps, shared_, placed.state);
    for (std::size_t i = 0; i < steps.size(); ++i) rows[i * input_.n_values() + placed.column] = scores[i];
  });
}

void Space::add_end_values(const std::uint32_t* state, float* row) const {
  if (n_words() == 0) return;  // an empty sentence costs nothing
  features_.each([&](const auto& placed) { placed.feature.add_end_values(state + placed.state, row + placed.column); });
}

// Returns the state after the last step.
template <class Visit>
std::vector<std::uint32_t> Space::walk(std::span<const std::uint32_t> path, const Visit& visit) {
  std::vector<std::uint32_t> state(state_size_);
  start(state);
  Move move;
  for (std::size_t i = 0; i < path.size(); ++i) {
    prepare(state.data(), 0, span_of(path[i]), move);
    float weighted;
    apply(state.data(), path[i], move, weighted);
    visit(i, state.data(), move, weighted);
    std::copy_n(move.state(), state_size_, state.begin());
  }
  return state;
}

double Space::add_path_values(std::span<const std::uint32_t> path, std::vector<float>& values) {
  const std::size_t n = input_.n_values();
  double sum = 0;
  const auto state = walk(path, [&](std::size_t i, const std::uint32_t* before, Move& move, float score) {
    sum += score;
    values.resize(values.size() + n, 0.0F);
    float* row = values.data() + values.size() - n;
    add_values({before, i == 0 ? 0 : path[i - 1], path[i]}, move, row);
    const BatchedStep step{before, path[i], move.state()};
    add_batched_values({&step, 1}, row);
    features_.each_batched([&](const auto& placed) { sum += placed.feature.weight() * row[placed.column]; });
  });
  values.resize(values.size() + n, 0.0F);
  add_end_values(state.data(), values.data() + values.size() - n);
  return n_words() == 0 ? 0 : sum + finish(state.data());
}

std::vector<std::uint8_t> Space::path_classes(std::span<const std::uint32_t> path) {
  std::vector<std::uint8_t> classes;
  walk(path, [&](std::size_t, const std::uint32_t*, const Move& move, float) {
    features_.each([&](const auto& placed) { placed.feature.add_class(move.step, move.words[placed.memo], classes); });
  });
  return classes;
}

}  // namespace hyperbaton
