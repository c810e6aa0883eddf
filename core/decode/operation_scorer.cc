#include "decode/operation_scorer.hh"

#include <algorithm>

#include "base/size.hh"
#include "decode/options.hh"

namespace hyperbaton {

OperationSentence::OperationSentence(const OperationInput& input, std::size_t sentence)
    : input_(input),
      sentence_(sentence),
      first_(to_size(input.options.offsets[sentence])),
      n_words_(static_cast<int>(input.units[0].source.length(sentence))) {
  Histories start;
  for (std::size_t m = 0; m < input.units.size(); ++m) start[m] = input.units[m].model.begin_state();
  begin_ = number(start);
  find_phrases();
  scripts_.resize(phrases_.size());
}

void OperationSentence::find_phrases() {
  const auto end = to_size(input_.options.offsets[sentence_ + 1]);
  const auto pairs = input_.pairs.subspan(first_, end - first_);
  phrases_.resize(pairs.size());
  if (input_.cache) input_.cache->find(pairs, phrases_);
  for (std::size_t o = 0; o < pairs.size(); ++o) {
    const bool kept = input_.cache && pairs[o] >= 0;
    // The pair may occur twice in the sentence.
    if (kept && !phrases_[o]) input_.cache->find(pairs.subspan(o, 1), std::span(phrases_).subspan(o, 1));
    if (phrases_[o]) continue;
    auto made = input_.make(sentence_, first_ + o);
    if (kept) phrases_[o] = input_.cache->add(pairs[o], made);
    if (!phrases_[o]) phrases_[o] = &own_.emplace_back(std::move(made));
  }
  shapes_.reserve(pairs.size());
  for (const auto* phrase : phrases_) shapes_.push_back(phrase->shape);
}

std::uint32_t OperationSentence::number(std::span<const LmState> histories) {
  std::array<std::uint32_t, kMaxOperationModels * kMaxNgramOrder> key;
  std::size_t n = 0;
  for (const auto& history : histories) {
    key[n++] = history.length;
    for (std::size_t k = 0; k < history.length; ++k) key[n++] = history.words[k];
  }
  const auto [number, is_new] = numbers_.number(std::span<const std::uint32_t>(key).first(n));
  if (is_new) histories_.insert(histories_.end(), histories.begin(), histories.end());
  return number;
}

OperationSentence::Prepared OperationSentence::prepare(const Coverage& before, State state, SourceSpan next) const {
  const int at = static_cast<int>(state.at), own_gap = before.gap_begin(next.begin);
  Prepared prepared{
      own_gap, own_gap, before.next_gap(0), 0, 0, at < n_words_ && !before[at], next.end < n_words_ && before[next.end]};
  for (int gap = prepared.first_gap; gap < own_gap; gap = before.next_gap(before.next_covered(gap))) ++prepared.n_left;
  for (int i = before.next_covered(next.end); i < n_words_;) {
    prepared.end = before.next_gap(i);
    i = before.next_covered(prepared.end);
    if (i < n_words_) ++prepared.n_right;
  }
  return prepared;
}

// Must make the same moves as SourceWalk::go.
inline OperationSentence::WayIn OperationSentence::way_in(int at, int word, const Prepared& prepared) const {
  WayIn way{false, false, 0, false};
  if (at < word) {
    way.leaves_gap = prepared.leaves_gap;
    way.forward = at != prepared.end;
    at = way.forward ? prepared.end : word;
  }
  if (word < at) {
    if (!way.forward) way.leaves_gap = at < prepared.end && prepared.leaves_gap;
    way.back = static_cast<std::uint32_t>(prepared.n_right) + 1;
    at = prepared.own_gap;
  }
  way.leaves_gap_inside = at < word;
  return way;
}

inline std::uint32_t OperationSentence::script_number(std::uint32_t option, const WayIn& way, const Prepared& prepared,
                                                      int begin) {
  const auto& own = shapes_[option];
  if (own.is_fixed()) return option;
  std::uint64_t depends = own.deletes_first ? way.kind() + 1 : 0;
  if (!own.in_order)
    depends = (depends << 16 | static_cast<std::uint64_t>(prepared.n_right)) << 3 |
              static_cast<std::uint64_t>(prepared.end > begin) << 2 |
              static_cast<std::uint64_t>(prepared.own_gap < begin) << 1 | static_cast<std::uint64_t>(prepared.next_covered);
  const auto [number, found] = script_numbers_.find_or_add(depends * phrases_.size() + option);
  if (!found) {
    *number = static_cast<std::uint32_t>(scripts_.size());
    scripts_.emplace_back();
  }
  return *number;
}

inline bool OperationSentence::has_bigram(std::uint32_t before, std::uint32_t operation) {
  const auto [known, found] = bigrams_.find_or_add(static_cast<std::uint64_t>(before) << 32 | operation);
  if (!found) *known = input_.units[0].model.has_bigram(before, operation) ? 1 : 0;
  return *known != 0;
}

inline Scored OperationSentence::score_script(const Script& script, std::uint32_t number, std::uint32_t option,
                                              std::uint32_t history) {
  if (n_models() == 1) {
    const auto& before = histories_[history];
    if (before.length > 0 && !has_bigram(before.words[0], script.first))
      return {NgramModel::back_off(script.first_log10, before) + script.behind_first, script.history};
  }
  const auto [known, found] = results_.find_or_add(history, number);
  if (!found)
    *known = score_operations({operations_of(script, option), script.n_operations}, rests_of(script, option),
                              script.history, history);
  return *known;
}

std::pair<OperationCounts, OperationSentence::State> OperationSentence::score(const Coverage& before, State state,
                                                                              std::uint32_t option,
                                                                              const Prepared& prepared) {
  const auto& own = shapes_[option];
  const int begin = source(option).begin;
  const auto way = way_in(static_cast<int>(state.at), begin + own.first_position, prepared);
  const auto number = script_number(option, way, prepared, begin);
  auto& script = scripts_[number];
  if (script.n_operations == 0) write_script(script, before, state, option, way, prepared);
  Scored before_script{0, state.history};
  if (!own.deletes_first && way.n_operations() > 0) {
    const auto [known, found] = ways_.find_or_add(state.history, way.kind());
    if (!found) *known = score_way(way, state.history);
    before_script = *known;
  }
  const auto scored = score_script(script, number, option, before_script.state);
  // The first untranslated word stays untranslated unless the phrase begins with it.
  const int width =
      prepared.first_gap == begin ? own.width_inside : own.position_sum + own.n_wide * (begin - prepared.first_gap);
  const int n_gaps = script.n_gaps + (!own.deletes_first && way.any_gap() ? 1 : 0);
  const int n_open_gaps = script.n_open_gaps + n_outside(prepared, begin) * own.n_generated;
  return {{before_script.score + scored.score, width, n_gaps, n_open_gaps, own.n_deletions},
          {static_cast<std::uint32_t>(begin + own.at), scored.state}};
}

void OperationSentence::write_script(Script& script, const Coverage& before, State state, std::uint32_t option,
                                     const WayIn& way, const Prepared& prepared) {
  const auto& phrase = *phrases_[option];
  if (phrase.shape.is_fixed()) {
    script.n_operations = static_cast<std::uint32_t>(phrase.operations.size());
    return complete_script(script, option, phrase.first_log10, phrase.behind);
  }
  const int begin = source(option).begin;
  script.place = static_cast<std::uint32_t>(operations_.size());
  SourceWalk walked(before, n_words_, static_cast<int>(state.at));
  Histories histories;
  const bool skips_way = !phrase.shape.deletes_first;
  std::uint32_t n_skipped = skips_way ? way.n_operations() : 0;
  const auto counts = input_.walk(walked, phrase, begin, [&](const Ids& operation) {
    if (n_skipped > 0) {
      --n_skipped;
      return;
    }
    operations_.push_back(operation);
    rests_.push_back(input_.logprob(histories, operation));
  });
  for (std::size_t k = rests_.size() - 1; k > script.place; --k) rests_[k - 1] += rests_[k];
  script.n_operations = static_cast<std::uint32_t>(operations_.size()) - script.place;
  script.n_gaps = counts.n_gaps - (skips_way && way.any_gap() ? 1 : 0);
  script.n_open_gaps = counts.n_open_gaps - n_outside(prepared, begin) * phrase.shape.n_generated;
  complete_script(script, option, input_.units[0].model.log10_prob(operations_[script.place][0]), histories);
}

void OperationSentence::complete_script(Script& script, std::uint32_t option, float first_log10, const Histories& behind) {
  script.first = operations_of(script, option)[0][0];
  script.first_log10 = first_log10;
  script.behind_first = script.n_operations > 1 ? rests_of(script, option)[1] : 0;
  script.history = number(behind);
}

Scored OperationSentence::score_way(const WayIn& way, std::uint32_t history) {
  std::array<Ids, 4> operations;
  std::size_t n = 0;
  if (way.leaves_gap) operations[n++] = input_.moves[0];
  if (way.forward) operations[n++] = input_.moves[1];
  if (way.back > 0) operations[n++] = input_.move(Move::JumpBack, static_cast<int>(way.back));
  if (way.leaves_gap_inside) operations[n++] = input_.moves[0];
  return score_operations(std::span(operations).first(n), nullptr, 0, history);
}

Scored OperationSentence::score_operations(std::span<const Ids> operations, const float* rests, std::uint32_t behind,
                                           std::uint32_t history) {
  Scored scored{0, behind};
  const std::size_t n = operations.size();
  if (input_.units.size() == 1) {
    const auto& model = input_.units[0].model;
    LmState made[2];
    const LmState* now = &histories_[history];
    for (std::size_t k = 0; k < n; ++k) {
      if (rests && now->length <= k) {
        scored.score += rests[k];
        return scored;
      }
      LmState* after = &made[k % 2];
      scored.score += model.score(*now, operations[k][0], *after);
      now = after;
    }
    if (!rests || now->length > n) scored.state = number({now, 1});
    return scored;
  }
  Histories histories;
  std::ranges::copy(models_after(history), histories.begin());
  for (std::size_t k = 0; k < n; ++k) {
    if (rests && independent(histories, k)) {
      scored.score += rests[k];
      return scored;
    }
    scored.score += input_.logprob(histories, operations[k]);
  }
  if (!rests || !independent(histories, n)) scored.state = number(histories);
  return scored;
}

std::pair<OperationCounts, OperationSentence::State> OperationSentence::score(const Coverage& before, State state,
                                                                              std::uint32_t option) {
  SourceWalk way(before, n_words_, static_cast<int>(state.at));
  Histories histories;
  std::ranges::copy(models_after(state.history), histories.begin());
  float sum = 0;
  auto counts = input_.walk(way, *phrases_[option], source(option).begin,
                            [&](const Ids& operation) { sum += input_.logprob(histories, operation); });
  counts.logprob = sum;
  return {counts, {static_cast<std::uint32_t>(way.at()), number(histories)}};
}

}  // namespace hyperbaton
