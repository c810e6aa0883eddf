#include "block/model.hh"

#include <algorithm>
#include <cmath>

namespace hyperbaton {

namespace {

double exp_sum(const double* logs) {
  double sum = 0;
  for (std::size_t j = 0; j < kJumps; ++j) sum += std::exp(logs[j]);
  return sum;
}

}  // namespace

bool BlockModel::add(const Question& question, std::uint32_t target, std::uint32_t tag, double* row) const {
  const auto key = feature_key(question, target, tag);
  if (!index_.may_have(key)) return false;
  const auto found = index_.find(key);
  if (found < 0) return false;
  const auto k = static_cast<std::size_t>(found);
  for (auto f = parts_.features.starts[k]; f < parts_.features.starts[k + 1]; ++f)
    row[parts_.features.jumps[static_cast<std::size_t>(f)]] += parts_.weights[static_cast<std::size_t>(f)];
  return true;
}

BlockModel::Place BlockModel::place(const BlockSentence& sentence, SourceSpan span) const {
  Place place{span, kNone32, sentence.tag(span), 0, 0, nullptr, {}, {}, {}, {}};
  const auto begin = static_cast<std::size_t>(span.begin), end = static_cast<std::size_t>(span.end);
  place.source = lookup_.source(sentence.words.subspan(begin, end - begin));
  place.jumps = parts_.prior.global(place.tag, span);
  const auto rows = lookup_.rows(place.source);
  place.first = rows.first;
  place.n = rows.last - rows.first;
  if (parts_.max_targets > 0) place.n = std::min<std::uint32_t>(place.n, static_cast<std::uint32_t>(parts_.max_targets));
  sentence.neighbourhood(span, place.around);
  ask_fixed(sentence, span, place.source, parts_.families, place.fixed);
  const double total = lookup_.total(place.source);
  for (std::uint32_t c = 0; c < place.n; ++c) {
    auto row = parts_.prior.row(parts_.table, place.first + c, total, place.jumps);
    for (double& p : row) p = std::log(p);
    const auto target = target_of(place, c);
    for (const auto& question : place.fixed) add(question, target, parts_.table.target_tags[target], row.data());
    place.logs.insert(place.logs.end(), row.begin(), row.end());
    place.sums.push_back(exp_sum(row.data()));
  }
  return place;
}

BlockModel::Effect BlockModel::effect(const Place& place, const Question& question) const {
  Effect effect;
  JumpRow row;
  row.fill(0);
  for (std::uint32_t c = 0; c < place.n; ++c) {
    const auto target = target_of(place, c);
    if (!add(question, target, parts_.table.target_tags[target], row.data())) continue;
    effect.candidates.push_back(c);
    effect.rows.push_back(row);
    row.fill(0);
  }
  return effect;
}

void BlockModel::score(const Place& place, std::span<const Effect* const> effects, Scored& scored) const {
  scored.changed.clear();
  scored.logs.clear();
  for (const auto* effect : effects)
    scored.changed.insert(scored.changed.end(), effect->candidates.begin(), effect->candidates.end());
  std::ranges::sort(scored.changed);
  scored.changed.erase(std::unique(scored.changed.begin(), scored.changed.end()), scored.changed.end());
  scored.sum = 0;
  std::size_t next = 0;
  for (std::uint32_t c = 0; c < place.n; ++c) {
    if (next < scored.changed.size() && scored.changed[next] == c)
      ++next;
    else
      scored.sum += place.sums[c];
  }
  for (const auto c : scored.changed) {
    JumpRow row;
    std::copy_n(place.logs.begin() + static_cast<std::ptrdiff_t>(c * kJumps), kJumps, row.begin());
    for (const auto* effect : effects) {
      const auto found = std::ranges::lower_bound(effect->candidates, c);
      if (found == effect->candidates.end() || *found != c) continue;
      const auto& own = effect->rows[static_cast<std::size_t>(found - effect->candidates.begin())];
      for (std::size_t j = 0; j < kJumps; ++j) row[j] += own[j];
    }
    scored.sum += exp_sum(row.data());
    scored.logs.push_back(row);
  }
}

BlockTarget BlockModel::target(const Place& place, std::span<const WordId> words) const {
  const auto target = lookup_.target(words);
  const auto pair = lookup_.pair(place.source, target);
  const bool among = pair != kNone32 && pair - place.first < place.n;
  return {among ? pair - place.first : kNone32, pair, target, target_tag(words, parts_.word_tags)};
}

JumpRow BlockModel::logprobs(const Place& place, std::span<const Question> moving, const Scored& scored,
                             const BlockTarget& target) const {
  JumpRow row;
  double sum = scored.sum;
  if (target.candidate != kNone32) {
    const auto found = std::ranges::lower_bound(scored.changed, target.candidate);
    if (found != scored.changed.end() && *found == target.candidate)
      row = scored.logs[static_cast<std::size_t>(found - scored.changed.begin())];
    else
      std::copy_n(place.logs.begin() + static_cast<std::ptrdiff_t>(target.candidate * kJumps), kJumps, row.begin());
  } else {
    row = parts_.prior.row(parts_.table, target.pair, lookup_.total(place.source), place.jumps);
    for (double& p : row) p = std::log(p);
    for (const auto questions : {std::span<const Question>(place.fixed), moving})
      for (const auto& question : questions) add(question, target.target, target.tag, row.data());
    sum += exp_sum(row.data());
  }
  const double log_sum = std::log(sum);
  for (double& one : row) one -= log_sum;
  return row;
}

PathScores score_paths(const BlockModel& model, const BlockBitext& bitext, unsigned n_threads, const Progress& progress) {
  constexpr std::size_t kSentences = 256;
  std::vector<PathScores> parts((bitext.size() + kSentences - 1) / kSentences);
  parallel_blocks(bitext.size(), kSentences, n_threads, progress, [&](std::size_t first, std::size_t last) {
    auto& scores = parts[first / kSentences];
    PathReader reader(bitext);
    std::vector<Question> moving;
    std::vector<BlockModel::Effect> effects;
    std::vector<const BlockModel::Effect*> asked;
    BlockModel::Scored scored;
    for (std::size_t s = first; s < last; ++s) {
      reader.read(
          s, [&](const BlockSentence& sentence, SourceSpan span, Words words, std::size_t jump, const History& history) {
            const auto place = model.place(sentence, span);
            moving.clear();
            ask_moving(sentence, span, place.around, place.source, history, model.families(), moving);
            effects.clear();
            asked.clear();
            for (const auto& question : moving) effects.push_back(model.effect(place, question));
            for (const auto& effect : effects) asked.push_back(&effect);
            model.score(place, asked, scored);
            const auto known = model.target(place, words);
            const auto row = model.logprobs(place, moving, scored, known);
            double best = *std::ranges::max_element(row), sum = exp_sum(row.data());
            const double own = sum;
            for (std::uint32_t c = 0; c < place.n; ++c) {
              if (c == known.candidate) continue;
              auto other = model.logprobs(place, moving, scored, {c, place.first + c, 0, 0});
              // Beside a target that is no candidate, the candidates have a little less.
              if (known.candidate == kNone32)
                for (double& one : other) one += std::log1p(-own);
              best = std::max(best, *std::ranges::max_element(other));
              sum += exp_sum(other.data());
            }
            scores.sentence.push_back(static_cast<std::uint32_t>(s));
            scores.begin.push_back(static_cast<std::uint16_t>(span.begin));
            scores.end.push_back(static_cast<std::uint16_t>(span.end));
            scores.jump.push_back(static_cast<std::int8_t>(static_cast<int>(jump) - kFarthestJump));
            scores.logprob.push_back(row[jump]);
            scores.jump_logprob.push_back(row[jump] - std::log(own));
            scores.right.push_back(row[jump] >= best);
            scores.jump_right.push_back(row[jump] >= *std::ranges::max_element(row));
            scores.sum.push_back(sum);
          });
    }
  });
  PathScores all;
  const auto append = [](auto& to, const auto& from) { to.insert(to.end(), from.begin(), from.end()); };
  for (const auto& part : parts) {
    append(all.sentence, part.sentence);
    append(all.begin, part.begin);
    append(all.end, part.end);
    append(all.jump, part.jump);
    append(all.logprob, part.logprob);
    append(all.jump_logprob, part.jump_logprob);
    append(all.right, part.right);
    append(all.jump_right, part.jump_right);
    append(all.sum, part.sum);
  }
  return all;
}

}  // namespace hyperbaton
