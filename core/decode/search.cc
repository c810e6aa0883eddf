#include "decode/search.hh"

namespace hyperbaton {

namespace {

// Batched features score this many steps at once.
constexpr std::size_t kBatch = 16384;

}  // namespace

Search::Search(Space& space, const SearchSettings& settings, bool keep_arcs, Poll& poll)
    : space_(space),
      settings_(settings),
      poll_(poll),
      chart_(space.state_size(), keep_arcs),
      grids_(space, chart_, counts_, poll) {
  stacks_.resize(static_cast<std::size_t>(space.n_words()) + 1);
}

bool Search::run() {
  std::vector<std::uint32_t> state(space_.state_size());
  space_.start(state);
  const float future = space_.future(state.data());
  stacks_[0].add(chart_, settings_.beam, {0, future, future, kNone, kNone, kNone}, state.data());
  switch (settings_.kind) {
    case SearchKind::Stack:
      search_stacks();
      break;
    case SearchKind::Cube:
      search_cubes();
      break;
    case SearchKind::Refine:
      search_refined();
      break;
  }
  return !stacks_.back().ids().empty();
}

void Search::search_stacks() {
  Space::Move move;
  for (std::size_t s = 0; s + 1 < stacks_.size(); ++s) {
    for (const auto id : stacks_[s].finish(chart_, settings_.beam)) {
      const Hypothesis from = chart_[id];
      for_each_span(id, [&](const std::uint32_t* state, const Space::Span& span) {
        space_.prepare(state, from.future, span, move);
        const std::size_t stack = s + static_cast<std::size_t>(span.source.end - span.source.begin);
        for (auto option = span.first; option < span.last; ++option) {
          float score;
          if (!space_.apply(state, option, move, score)) continue;
          add({id, option, from.score + score, move.future, move.ahead, stack}, move.state());
        }
      });
    }
    flush();
  }
  stacks_.back().finish(chart_, settings_.beam);
}

void Search::add(const Candidate& candidate, std::uint32_t* state) {
  if (!space_.has_batched()) return insert(candidate, state);
  waiting_.push_back(candidate);
  waiting_states_.insert(waiting_states_.end(), state, state + chart_.stride());
  if (waiting_.size() >= kBatch) flush();
}

void Search::flush() {
  batch_.clear();
  for (std::size_t i = 0; i < waiting_.size(); ++i)
    batch_.push_back({chart_.state(waiting_[i].previous), waiting_[i].option, &waiting_states_[i * chart_.stride()]});
  if (!batch_.empty()) space_.ask_batched(batch_, [&](std::size_t i, float score) { waiting_[i].score += score; });
  for (std::size_t i = 0; i < waiting_.size(); ++i) insert(waiting_[i], batch_[i].after);
  waiting_.clear();
  waiting_states_.clear();
}

bool Search::finished(Candidate& candidate, const std::uint32_t* state) {
  poll_();
  ++counts_.hypotheses;
  if (candidate.stack + 1 < stacks_.size()) return true;
  if (!space_.complete(state)) return false;
  candidate.score += space_.finish(state);
  return true;
}

void Search::insert(Candidate candidate, const std::uint32_t* state) {
  if (finished(candidate, state)) keep(candidate, state);
}

void Search::keep(const Candidate& candidate, const std::uint32_t* state) {
  auto& stack = stacks_[candidate.stack];
  if (stack.hopeless(candidate.estimate())) return;
  stack.add(chart_, settings_.beam,
            {candidate.score, candidate.estimate(), candidate.future, candidate.previous, candidate.option, kNone}, state);
}

}  // namespace hyperbaton
