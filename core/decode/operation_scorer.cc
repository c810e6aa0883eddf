#include "decode/operation_scorer.hh"

#include <algorithm>

#include "base/errors.hh"
#include "base/math.hh"
#include "operations/names.hh"

namespace hyperbaton {

namespace {

constexpr std::uint32_t kNoWord = 0xffffffffU;

}  // namespace

void OperationInput::check() const {
  if (units.empty() || units.size() > kMaxOperationModels) throw Error("one operation model is needed, or two");
  if (n_values != 1 && n_values != kOperationValues) throw Error("an operation model has one value, or five");
  const std::size_t n_options = options.begin.size();
  if (options.length.size() != n_options || options.offsets.empty() || options.links.offsets.size() != n_options + 1 ||
      itself.size() != n_options || options.offsets.back() != static_cast<std::int64_t>(n_options))
    throw Error("the columns of the options do not fit each other");
  for (const auto& unit : units) {
    unit.source.check();
    unit.targets.check();
    if (unit.names->size() != unit.model.n_words()) throw Error("the names of operations do not fit their model");
    if (unit.source.n_sentences() + 1 != options.offsets.size() || unit.targets.n_sentences() != n_options)
      throw Error("the options are those of another text");
  }
  if (units.size() == 2 && log_of_class.size() != units[0].model.n_words())
    throw Error("the share of each operation in its class is needed");
  for (std::size_t s = 0; s + 1 < options.offsets.size(); ++s)
    for (auto o = static_cast<std::size_t>(options.offsets[s]); o < static_cast<std::size_t>(options.offsets[s + 1]); ++o) {
      if (options.length[o] == 0 ||
          static_cast<std::size_t>(options.begin[o]) + options.length[o] > units[0].source.length(s))
        throw Error("an option is outside of its sentence");
      for (const auto link : options.links[o])
        if (link.source >= options.length[o] || link.target >= units[0].targets.length(o))
          throw Error("a phrase pair has a link outside of it");
    }
}

OperationSentence::OperationSentence(const OperationInput& input, std::size_t sentence)
    : input_(input),
      sentence_(sentence),
      first_(static_cast<std::size_t>(input.options.offsets[sentence])),
      n_words_(static_cast<int>(input.units[0].source.length(sentence))) {
  Histories start;
  for (std::size_t m = 0; m < input.units.size(); ++m) start[m] = input.units[m].model.begin_state();
  begin_ = number(start);
  // A sentence of n words has at most half as many gaps.
  for (const auto move : {Move::InsertGap, Move::JumpForward, Move::JumpBack})
    for (int gap = 1; gap <= (move == Move::JumpBack ? n_words_ / 2 + 1 : 1); ++gap) {
      Ids ids{};
      for (std::size_t m = 0; m < input.units.size(); ++m) {
        const auto id = input.units[m].names->find(move_name(move, gap));
        ids[m] = id == kUnknownWord ? NgramModel::kUnk : id;
      }
      moves_.push_back(ids);
    }
  const auto n_options = static_cast<std::size_t>(input.options.offsets[sentence + 1]) - first_;
  options_.reserve(n_options);
  scripts_.resize(n_options);
  std::string name;
  for (std::uint32_t o = 0; o < n_options; ++o) {
    const auto [begin, end] = source(o);
    const auto n_target = static_cast<int>(input.units[0].targets.length(first_ + o));
    add_option(plan_phrase(input.options.links[first_ + o], {end - begin, n_target}), o, name);
    if (options_[o].in_order) score_alone(o);
  }
}

void OperationSentence::add_option(const PhrasePlan& plan, std::uint32_t option, std::string& name) {
  Option made{static_cast<std::uint32_t>(words_.size()), 0, -1, 0, true, false, 0, 0, 0, 0, 0, 0};
  for (const auto& word : plan.words) {
    const bool wide = word.kind == PlannedWord::Kind::Translate || word.kind == PlannedWord::Kind::Insert;
    const auto position = word.generates() ? static_cast<std::int16_t>(word.position) : std::int16_t{-1};
    words_.push_back({find(plan, word, option, name), position, wide});
    if (!word.generates()) {
      made.deletes_first |= made.first_position < 0;
      continue;
    }
    made.in_order &= word.position == made.n_generated;
    if (made.first_position < 0) made.first_position = position;
    if (wide) {
      ++made.n_wide;
      made.position_sum += word.position;
    }
    ++made.n_generated;
    made.n_deletions += word.kind == PlannedWord::Kind::Insert ? 1 : 0;
  }
  made.last_word = static_cast<std::uint32_t>(words_.size());
  // In order, there is no gap inside, and the walk ends behind the phrase.
  made.at = static_cast<std::int16_t>(made.n_generated);
  if (!made.in_order) {
    const auto [begin, end] = source(option);
    SourceWalk alone(end - begin);
    for (auto w = made.first_word; w < made.last_word; ++w) {
      const auto& word = words_[w];
      if (word.position < 0) continue;
      alone.go(word.position, [](Move, int) {});
      if (word.is_wide) made.width_inside += word.position - alone.first_gap();
      alone.generate();
    }
    made.at = static_cast<std::int16_t>(alone.at());
  }
  options_.push_back(made);
}

void OperationSentence::score_alone(std::uint32_t option) {
  auto& own = options_[option];
  const auto first = static_cast<std::uint32_t>(operations_.size());
  Histories histories;
  for (auto w = own.first_word; w < own.last_word; ++w) {
    operations_.push_back(words_[w].operation);
    rests_.push_back(logprob(histories, words_[w].operation));
    own.alone += rests_.back();
  }
  if (own.deletes_first || own.first_word == own.last_word) {
    operations_.resize(first);
    rests_.resize(first);
    return;
  }
  for (std::size_t k = rests_.size() - 1; k > first; --k) rests_[k - 1] += rests_[k];
  scripts_[option] = {first, own.last_word - own.first_word, 0, 0, number(histories)};
}

OperationSentence::Ids OperationSentence::find(const PhrasePlan& plan, const PlannedWord& word, std::uint32_t option,
                                               std::string& name) {
  const auto begin = static_cast<std::size_t>(source(option).begin);
  const bool is_pair = word.kind == PlannedWord::Kind::Translate && plan.cepts[word.cept].source.size() == 1 &&
                       plan.cepts[word.cept].target.size() == 1;
  const bool itself = word.kind == PlannedWord::Kind::Translate && input_.itself[first_ + option];
  std::uint32_t* known = nullptr;
  if (!itself && (is_pair || word.kind != PlannedWord::Kind::Translate)) {
    const auto& unit = input_.units[0];
    std::uint32_t src = kNoWord, tgt = kNoWord;
    if (is_pair || word.kind == PlannedWord::Kind::Insert)
      src = unit.source.tokens[static_cast<std::size_t>(unit.source.offsets[sentence_]) + begin + word.position];
    if (is_pair || word.kind == PlannedWord::Kind::Delete)
      tgt = unit.targets.tokens[static_cast<std::size_t>(unit.targets.offsets[first_ + option]) +
                                (is_pair ? plan.cepts[word.cept].target[0] : word.position)];
    const auto [place, found] = known_.find_or_add(static_cast<std::uint64_t>(tgt) << 32 | src);
    if (found) return known_ids_[*place];
    known = place;
  }
  Ids ids{};
  for (std::size_t m = 0; m < input_.units.size(); ++m) {
    const auto& unit = input_.units[m];
    if (itself)
      name = kTranslateItself;
    else
      spell_word(
          plan, word, [&](std::uint16_t i) { return unit.source.word(sentence_, begin + i); },
          [&](std::uint16_t j) { return unit.targets.word(first_ + option, j); }, name);
    const auto id = unit.names->find(name);
    ids[m] = id == kUnknownWord ? NgramModel::kUnk : id;
  }
  if (known) {
    *known = static_cast<std::uint32_t>(known_ids_.size());
    known_ids_.push_back(ids);
  }
  return ids;
}

float OperationSentence::logprob(Histories& histories, const Ids& operation) const {
  LmState after;
  const float of_word = input_.units[0].model.score(histories[0], operation[0], after);
  histories[0] = after;
  if (input_.units.size() == 1) return of_word;
  LmState after_class;
  const float of_class = input_.units[1].model.score(histories[1], operation[1], after_class);
  histories[1] = after_class;
  const double word = input_.share * math::exp(of_word);
  const double by_class = (1 - input_.share) * math::exp(of_class + input_.log_of_class[operation[0]]);
  return static_cast<float>(math::log(std::max(word + by_class, 1e-300)));
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

template <class Take>
OperationCounts OperationSentence::walk(SourceWalk& walk, std::uint32_t option, int begin, const Take& take) const {
  OperationCounts counts;
  const auto& own = options_[option];
  for (auto w = own.first_word; w < own.last_word; ++w) {
    const auto& word = words_[w];
    if (word.position < 0) {
      take(word.operation);
      continue;
    }
    counts.n_gaps += walk.go(begin + word.position, [&](Move move, int gap) {
      const auto at = static_cast<std::size_t>(move) + static_cast<std::size_t>(move == Move::JumpBack ? gap - 1 : 0);
      take(moves_[std::min(at, moves_.size() - 1)]);
    });
    take(word.operation);
    if (word.is_wide) counts.gap_width += walk.at() - walk.first_gap();
    walk.generate();
    counts.n_open_gaps += walk.n_open_gaps();
  }
  counts.n_deletions = own.n_deletions;
  return counts;
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

// The same moves as SourceWalk::go makes.
OperationSentence::WayIn OperationSentence::way_in(int at, int word, const Prepared& prepared) const {
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

std::uint32_t OperationSentence::script_number(std::uint32_t option, const WayIn& way, const Prepared& prepared,
                                               int begin) {
  const auto& own = options_[option];
  if (own.in_order && !own.deletes_first) return option;
  std::uint64_t depends = own.deletes_first ? way.kind() + 1 : 0;
  if (!own.in_order)
    depends = (depends << 16 | static_cast<std::uint64_t>(prepared.n_right)) << 3 |
              static_cast<std::uint64_t>(prepared.end > begin) << 2 |
              static_cast<std::uint64_t>(prepared.own_gap < begin) << 1 | static_cast<std::uint64_t>(prepared.next_covered);
  const auto [number, found] = script_numbers_.find_or_add(depends * options_.size() + option);
  if (!found) {
    *number = static_cast<std::uint32_t>(scripts_.size());
    scripts_.emplace_back();
  }
  return *number;
}

std::pair<OperationCounts, OperationSentence::State> OperationSentence::score(const Coverage& before, State state,
                                                                              std::uint32_t option,
                                                                              const Prepared& prepared) {
  const auto& own = options_[option];
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
  const auto [known, found] = results_.find_or_add(before_script.history, number);
  if (!found)
    *known = score_operations(std::span(operations_).subspan(script.first, script.n_operations), &rests_[script.first],
                              script.history, before_script.history);
  // The first untranslated word stays so, unless the phrase begins with it.
  const int width =
      prepared.first_gap == begin ? own.width_inside : own.position_sum + own.n_wide * (begin - prepared.first_gap);
  const int n_gaps = script.n_gaps + (!own.deletes_first && way.any_gap() ? 1 : 0);
  const int n_open_gaps = script.n_open_gaps + n_outside(prepared, begin) * own.n_generated;
  return {{before_script.logprob + known->logprob, width, n_gaps, n_open_gaps, own.n_deletions},
          {static_cast<std::uint32_t>(begin + own.at), known->history}};
}

void OperationSentence::write_script(Script& script, const Coverage& before, State state, std::uint32_t option,
                                     const WayIn& way, const Prepared& prepared) {
  const auto& own = options_[option];
  const int begin = source(option).begin;
  script.first = static_cast<std::uint32_t>(operations_.size());
  SourceWalk walked(before, n_words_, static_cast<int>(state.at));
  Histories histories;
  std::uint32_t n_skipped = own.deletes_first ? 0 : way.n_operations();
  const auto counts = walk(walked, option, begin, [&](const Ids& operation) {
    if (n_skipped > 0) {
      --n_skipped;
      return;
    }
    operations_.push_back(operation);
    rests_.push_back(logprob(histories, operation));
  });
  for (std::size_t k = rests_.size() - 1; k > script.first; --k) rests_[k - 1] += rests_[k];
  script.n_operations = static_cast<std::uint32_t>(operations_.size()) - script.first;
  script.n_gaps = counts.n_gaps - (!own.deletes_first && way.any_gap() ? 1 : 0);
  script.n_open_gaps = counts.n_open_gaps - n_outside(prepared, begin) * own.n_generated;
  script.history = number(histories);
}

OperationSentence::Scored OperationSentence::score_way(const WayIn& way, std::uint32_t history) {
  std::array<Ids, 4> operations;
  std::size_t n = 0;
  if (way.leaves_gap) operations[n++] = moves_[0];
  if (way.forward) operations[n++] = moves_[1];
  if (way.back > 0) operations[n++] = moves_[std::min<std::size_t>(1 + way.back, moves_.size() - 1)];
  if (way.leaves_gap_inside) operations[n++] = moves_[0];
  return score_operations(std::span(operations).first(n), nullptr, 0, history);
}

OperationSentence::Scored OperationSentence::score_operations(std::span<const Ids> operations, const float* rests,
                                                              std::uint32_t behind, std::uint32_t history) {
  Scored scored{0, behind};
  const std::size_t n = operations.size();
  if (input_.units.size() == 1) {
    const auto& model = input_.units[0].model;
    LmState made[2];
    const LmState* now = &histories_[history];
    for (std::size_t k = 0; k < n; ++k) {
      if (rests && now->length <= k) {
        scored.logprob += rests[k];
        return scored;
      }
      LmState* after = &made[k % 2];
      scored.logprob += model.score(*now, operations[k][0], *after);
      now = after;
    }
    if (!rests || now->length > n) scored.history = number({now, 1});
    return scored;
  }
  Histories histories;
  std::ranges::copy(models_after(history), histories.begin());
  for (std::size_t k = 0; k < n; ++k) {
    if (rests && independent(histories, k)) {
      scored.logprob += rests[k];
      return scored;
    }
    scored.logprob += logprob(histories, operations[k]);
  }
  if (!rests || !independent(histories, n)) scored.history = number(histories);
  return scored;
}

std::pair<OperationCounts, OperationSentence::State> OperationSentence::score(const Coverage& before, State state,
                                                                              std::uint32_t option) {
  SourceWalk way(before, n_words_, static_cast<int>(state.at));
  Histories histories;
  std::ranges::copy(models_after(state.history), histories.begin());
  float sum = 0;
  auto counts =
      walk(way, option, source(option).begin, [&](const Ids& operation) { sum += logprob(histories, operation); });
  counts.logprob = sum;
  return {counts, {static_cast<std::uint32_t>(way.at()), number(histories)}};
}

OperationCounts OperationSentence::estimate(std::uint32_t option) const {
  if (options_[option].in_order) return {options_[option].alone, 0, 0, 0, options_[option].n_deletions};
  const auto [begin, end] = source(option);
  SourceWalk way(end - begin);
  Histories histories;
  float sum = 0;
  auto counts = walk(way, option, 0, [&](const Ids& operation) { sum += logprob(histories, operation); });
  counts.logprob = sum;
  return counts;
}

}  // namespace hyperbaton
