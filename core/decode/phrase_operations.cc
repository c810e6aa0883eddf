#include "decode/phrase_operations.hh"

#include "base/errors.hh"
#include "base/math.hh"
#include "base/size.hh"
#include "decode/options.hh"
#include "operations/names.hh"

namespace hyperbaton {

void PhraseOperationsCache::find(std::span<const std::int64_t> pairs, std::span<const PhraseOperations*> phrases) const {
  const std::shared_lock lock(mutex_);
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const auto* number = numbers_.find(static_cast<std::uint64_t>(pairs[i]));
    phrases[i] = number ? &phrases_[*number] : nullptr;
  }
}

const PhraseOperations* PhraseOperationsCache::add(std::int64_t pair, const PhraseOperations& phrase) {
  const std::unique_lock lock(mutex_);
  if (phrases_.size() >= kMost) return nullptr;
  const auto [number, found] = numbers_.find_or_add(static_cast<std::uint64_t>(pair));
  if (!found) {
    *number = static_cast<std::uint32_t>(phrases_.size());
    phrases_.push_back(phrase);
  }
  return &phrases_[*number];
}

void OperationInput::complete() {
  if (units.empty() || units.size() > kMaxOperationModels) throw Error("there must be one or two operation models");
  if (n_values != 1 && n_values != kOperationValues) throw Error("an operation model has one value, or five");
  const std::size_t n_options = options.begin.size();
  if (options.length.size() != n_options || options.offsets.empty() || options.links.offsets.size() != n_options + 1 ||
      pairs.size() != n_options || options.offsets.back() != static_cast<std::int64_t>(n_options))
    throw Error("the columns of the options do not match");
  for (const auto& unit : units) {
    unit.source.check();
    unit.targets.check();
    if (unit.names->size() != unit.model.n_words()) throw Error("the names of operations do not match their model");
    if (unit.source.n_sentences() + 1 != options.offsets.size() || unit.targets.n_sentences() != n_options)
      throw Error("options were computed for a different text");
  }
  if (units.size() == 2 && log_of_class.size() != units[0].model.n_words())
    throw Error("there must be a share for each operation in its class");
  std::size_t longest = 0;
  for (std::size_t s = 0; s + 1 < options.offsets.size(); ++s) {
    longest = std::max(longest, units[0].source.length(s));
    for (auto o = to_size(options.offsets[s]); o < to_size(options.offsets[s + 1]); ++o) {
      if (options.length[o] == 0 ||
          static_cast<std::size_t>(options.begin[o]) + options.length[o] > units[0].source.length(s))
        throw Error("an option is out of range for its sentence");
      for (const auto link : options.links[o])
        if (link.source >= options.length[o] || link.target >= units[0].targets.length(o))
          throw Error("a phrase pair has a link that is out of range");
    }
  }
  // A sentence of n words has at most half as many gaps.
  moves.clear();
  for (const auto each : {Move::InsertGap, Move::JumpForward, Move::JumpBack})
    for (std::size_t gap = 1; gap <= (each == Move::JumpBack ? longest / 2 + 1 : 1); ++gap) {
      OperationIds ids{};
      for (std::size_t m = 0; m < units.size(); ++m) {
        const auto id = units[m].names->find(move_name(each, static_cast<int>(gap)));
        ids[m] = id == kUnknownWord ? NgramModel::kUnk : id;
      }
      moves.push_back(ids);
    }
}

float OperationInput::logprob(OperationHistories& histories, const OperationIds& operation) const {
  LmState after;
  const float of_word = units[0].model.score(histories[0], operation[0], after);
  histories[0] = after;
  if (units.size() == 1) return of_word;
  LmState after_class;
  const float of_class = units[1].model.score(histories[1], operation[1], after_class);
  histories[1] = after_class;
  const double word = share * math::exp(of_word);
  const double by_class = (1 - share) * math::exp(of_class + log_of_class[operation[0]]);
  return static_cast<float>(math::log(std::max(word + by_class, 1e-300)));
}

OperationIds OperationInput::find(std::size_t sentence, std::size_t option, const PhrasePlan& plan, const PlannedWord& word,
                                  std::string& name) const {
  const auto begin = to_size(source(option).begin);
  OperationIds ids{};
  for (std::size_t m = 0; m < units.size(); ++m) {
    const auto& unit = units[m];
    if (word.kind == PlannedWord::Kind::Translate && pairs[option] == kUnknownPair)
      name = kTranslateItself;
    else
      spell_word(
          plan, word, [&](std::uint16_t i) { return unit.source.word(sentence, begin + i); },
          [&](std::uint16_t j) { return unit.targets.word(option, j); }, name);
    const auto id = unit.names->find(name);
    ids[m] = id == kUnknownWord ? NgramModel::kUnk : id;
  }
  return ids;
}

PhraseOperations OperationInput::make(std::size_t sentence, std::size_t option) const {
  const auto [begin, end] = source(option);
  const auto plan = plan_phrase(options.links[option], {end - begin, static_cast<int>(units[0].targets.length(option))});
  PhraseOperations phrase;
  auto& shape = phrase.shape;
  std::string name;
  for (const auto& word : plan.words) {
    const bool wide = word.kind == PlannedWord::Kind::Translate || word.kind == PlannedWord::Kind::Insert;
    const auto position = word.generates() ? static_cast<std::int16_t>(word.position) : std::int16_t{-1};
    phrase.words.push_back({find(sentence, option, plan, word, name), position, wide});
    if (!word.generates()) {
      shape.deletes_first |= shape.first_position < 0;
      continue;
    }
    shape.in_order &= word.position == shape.n_generated;
    if (shape.first_position < 0) shape.first_position = position;
    if (wide) {
      ++shape.n_wide;
      shape.position_sum += word.position;
    }
    ++shape.n_generated;
    shape.n_deletions += word.kind == PlannedWord::Kind::Insert ? 1 : 0;
  }
  // If translated in order, there is no gap inside, and the walk ends after the phrase.
  if (shape.in_order) {
    shape.at = static_cast<std::int16_t>(shape.n_generated);
    phrase.alone.n_deletions = shape.n_deletions;
    for (const auto& word : phrase.words) {
      phrase.operations.push_back(word.operation);
      phrase.rests.push_back(logprob(phrase.behind, word.operation));
      phrase.alone.logprob += phrase.rests.back();
    }
    phrase.first_log10 = units[0].model.log10_prob(phrase.operations[0][0]);
    for (std::size_t k = phrase.rests.size(); k-- > 1;) phrase.rests[k - 1] += phrase.rests[k];
  } else {
    SourceWalk way(end - begin);
    for (const auto& word : phrase.words) {
      if (word.position < 0) continue;
      way.go(word.position, [](Move, int) {});
      if (word.is_wide) shape.width_inside += word.position - way.first_gap();
      way.generate();
    }
    shape.at = static_cast<std::int16_t>(way.at());
    SourceWalk again(end - begin);
    OperationHistories histories;
    float sum = 0;
    phrase.alone = walk(again, phrase, 0, [&](const OperationIds& operation) { sum += logprob(histories, operation); });
    phrase.alone.logprob = sum;
  }
  return phrase;
}

}  // namespace hyperbaton
