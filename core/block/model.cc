#include "block/model.hh"

#include <algorithm>

#include "base/columns.hh"
#include "base/math.hh"

namespace hyperbaton {

namespace {

double exp_sum(const double* logs) {
  double sum = 0;
  for (std::size_t j = 0; j < kJumps; ++j) sum += math::exp(logs[j]);
  return sum;
}

// Σ exp(logs); only the exponentials of changed jumps are computed.
double sum_changed(const JumpRow& logs, std::uint32_t changed, JumpRow& exps) {
  double sum = 0;
  for (std::size_t j = 0; j < kJumps; ++j) {
    if (changed >> j & 1) exps[j] = math::exp(logs[j]);
    sum += exps[j];
  }
  return sum;
}

}  // namespace

BlockModel::Place BlockModel::place(const BlockSentence& sentence, SourceSpan span) const {
  Place place;
  place.span = span;
  place.tag = sentence.tag(span);
  const auto begin = to_size(span.begin), end = to_size(span.end);
  place.source = lookup_.source(sentence.words.subspan(begin, end - begin));
  place.jumps = parts_.prior.global(place.tag, span);
  place.first = lookup_.rows(place.source).first;
  place.n = lookup_.n_candidates(place.source, parts_.max_targets);
  sentence.neighbourhood(span, place.around);
  ask_fixed(sentence, span, place.source, parts_.families, place.fixed);

  const double total = lookup_.total(place.source);
  for (std::uint32_t c = 0; c < place.n; ++c) {
    place.exps.push_back(parts_.prior.row(lookup_.table(), place.first + c, total, place.jumps));
    auto& row = place.logs.emplace_back(place.exps.back());
    for (double& p : row) p = math::log(p);
  }
  std::vector<std::uint32_t> changed(place.n, 0);  // jumps whose probability differs from the prior
  std::vector<Term> made;
  for (const auto& question : place.fixed)
    for (const auto& term : effect(place, question, made)) {
      place.logs[term.candidate][term.jump] += term.weight;
      changed[term.candidate] |= 1u << term.jump;
    }
  for (std::uint32_t c = 0; c < place.n; ++c) {
    place.sums.push_back(sum_changed(place.logs[c], changed[c], place.exps[c]));
    place.sum += place.sums.back();
  }
  return place;
}

BlockModel::Effect BlockModel::effect(const Place& place, const Question& question, std::vector<Term>& made) const {
  const auto number = index_.number(question);
  if (number == QuestionIndex::kNoQuestion) return {};
  if (!about_tags(question.ask)) {
    const auto own = effect(index_[number]);
    return {own.begin(), std::ranges::lower_bound(own, place.n, {}, &Term::candidate)};
  }
  made.clear();
  for (std::uint32_t c = 0; c < place.n; ++c)
    for (const auto& term : effect(index_.of_tag(number, tag_row(lookup_.table().target_tags[target_of(place, c)]))))
      made.push_back({.candidate = c, .jump = term.jump, .weight = term.weight});
  return made;
}

BlockModel::Scored BlockModel::score(const Place& place, std::span<const Effect> effects, Changes& changes) const {
  const auto first = changes.candidates.size();
  changes.own.assign(place.n, {kNone32, 0});
  for (const auto effect : effects)
    for (const auto& term : effect) {
      auto& own = changes.own[term.candidate];
      if (own.row == kNone32) {
        own.row = static_cast<std::uint32_t>(changes.candidates.size());
        changes.candidates.push_back(term.candidate);
        changes.logs.push_back(place.logs[term.candidate]);
      }
      own.jumps |= 1u << term.jump;
      changes.logs[own.row][term.jump] += term.weight;
    }
  double sum = 0;
  for (std::uint32_t c = 0; c < place.n; ++c) {
    if (const auto own = changes.own[c]; own.row == kNone32) {
      sum += place.sums[c];
    } else {
      auto exps = place.exps[c];
      sum += sum_changed(changes.logs[own.row], own.jumps, exps);
    }
  }
  return {.sum = sum, .first = first, .last = changes.candidates.size()};
}

BlockTarget BlockModel::target(const Place& place, std::span<const WordId> words) const {
  const auto target = lookup_.target(words);
  const auto pair = target == kNone32 ? kNone32 : lookup_.pair(place.source, target);
  const bool among = pair != kNone32 && pair - place.first < place.n;
  return {.candidate = among ? pair - place.first : kNone32,
          .pair = pair,
          .target = target,
          .tag = target_tag(words, parts_.word_tags)};
}

JumpRow BlockModel::logprobs(const Place& place, std::span<const Question> moving, const Changes& changes,
                             const Scored& scored, const BlockTarget& target) const {
  JumpRow row;
  double sum = scored.sum;
  if (target.candidate != kNone32) {
    const auto changed = std::span(changes.candidates).subspan(scored.first, scored.last - scored.first);
    const auto found = std::ranges::find(changed, target.candidate);
    row = found == changed.end() ? place.logs[target.candidate]
                                 : changes.logs[scored.first + to_size(found - changed.begin())];
  } else {
    row = parts_.prior.row(lookup_.table(), target.pair, lookup_.total(place.source), place.jumps);
    for (double& p : row) p = math::log(p);
    const auto own = target.pair == kNone32 ? kNone32 : target.pair - place.first;
    for (const auto questions : {std::span<const Question>(place.fixed), moving})
      for (const auto& question : questions)
        for (const auto& term :
             effect(index_.of_row(index_[question], about_tags(question.ask) ? tag_row(target.tag) : own)))
          row[term.jump] += term.weight;
    sum += exp_sum(row.data());
  }
  const double log_sum = math::log(sum);
  for (double& one : row) one -= log_sum;
  return row;
}

PathScores score_paths(const BlockModel& model, const BlockBitext& bitext, unsigned n_threads, const Progress& progress) {
  constexpr std::size_t kSentences = 256;
  std::vector<PathScores> parts((bitext.size() + kSentences - 1) / kSentences);
  parallel_chunks(bitext.size(), kSentences, n_threads, progress, [&](std::size_t first, std::size_t last) {
    auto& scores = parts[first / kSentences];
    PathReader reader(bitext);
    std::vector<Question> moving;
    std::vector<std::vector<BlockModel::Term>> made;
    std::vector<BlockModel::Effect> effects;
    BlockModel::Changes changes;
    for (std::size_t s = first; s < last; ++s) {
      reader.read(
          s, [&](const BlockSentence& sentence, SourceSpan span, Words words, std::size_t jump, const History& history) {
            const auto place = model.place(sentence, span);
            moving.clear();
            ask_moving(sentence, span, place.around, place.source, history, model.families(), moving);
            effects.clear();
            made.resize(std::max(made.size(), moving.size()));
            for (const auto& question : moving) effects.push_back(model.effect(place, question, made[effects.size()]));
            changes.candidates.clear();
            changes.logs.clear();
            const auto scored = model.score(place, effects, changes);
            const auto known = model.target(place, words);
            const auto row = model.logprobs(place, moving, changes, scored, known);
            double best = *std::ranges::max_element(row), sum = exp_sum(row.data());
            const double own = sum;
            for (std::uint32_t c = 0; c < place.n; ++c) {
              if (c == known.candidate) continue;
              auto other = model.logprobs(place, moving, changes, scored,
                                          {.candidate = c, .pair = place.first + c, .target = 0, .tag = 0});
              // A target that is not a candidate takes a little probability from the candidates.
              if (known.candidate == kNone32)
                for (double& one : other) one += math::log1p(-own);
              best = std::max(best, *std::ranges::max_element(other));
              sum += exp_sum(other.data());
            }
            scores.sentence.push_back(static_cast<std::uint32_t>(s));
            scores.begin.push_back(static_cast<std::uint16_t>(span.begin));
            scores.end.push_back(static_cast<std::uint16_t>(span.end));
            scores.jump.push_back(static_cast<std::int8_t>(jump_of(jump)));
            scores.logprob.push_back(row[jump]);
            scores.jump_logprob.push_back(row[jump] - math::log(own));
            scores.right.push_back(row[jump] >= best);
            scores.jump_right.push_back(row[jump] >= *std::ranges::max_element(row));
            scores.sum.push_back(sum);
          });
    }
  });
  PathScores all;
  using S = PathScores;
  join_columns<&S::sentence, &S::begin, &S::end, &S::jump, &S::logprob, &S::jump_logprob, &S::right, &S::jump_right,
               &S::sum>(all, parts);
  return all;
}

}  // namespace hyperbaton
