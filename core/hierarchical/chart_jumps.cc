#include "hierarchical/chart_jumps.hh"

#include "hierarchical/rule_options.hh"

namespace hyperbaton {

namespace {

constexpr std::uint32_t kNoVisit = 0xffffffffU;
constexpr std::uint32_t kSentenceStart = 0xffffU;  // as first word

}  // namespace

void ChartJumps::check(const std::string& name, const JumpScorer& scorer, const JumpScorer& first,
                       std::span<const std::int64_t> source_offsets) {
  scorer.check(source_offsets);
  if (scorer.inside != first.inside) throw Error(name + ": jump models must agree on whether jumps inside rules count");
}

void ChartJumps::combine(const AppliedRule& rule, std::uint32_t* state, double& score, float* values) const {
  std::uint32_t first = 0, row = 0;  // of the words visited so far: the first one, and the row of the last one
  bool any = rule.option == RuleOptions::kStart, after_gap = false;
  if (any) first = kSentenceStart;
  const auto jump = [&](std::uint32_t to) {
    const auto width = to_size(n_words_) + 1;
    for (std::size_t k = 0; k < scorers_.size(); ++k) {
      const auto& scorer = scorers_[k];
      const float value = scorer.matrices[to_size(scorer.offsets[sentence_]) + row * width + to];
      if (values) values[k] += value;
      score += scorer.weight * value;
    }
  };
  for (const auto symbol : rule.options.visits(rule.options[rule.option])) {
    std::uint32_t next_first, next_row;
    if (symbol.is_gap) {
      const auto child = *rule.gaps[symbol.value];
      if (child == kNoVisit) continue;
      next_first = child >> 16;
      next_row = child & 0xffff;
    } else {
      next_first = rule.positions[symbol.value];
      next_row = next_first + 1;
    }
    if (!any)
      first = next_first;
    else if (symbol.is_gap || after_gap || scorers_.front().inside)
      jump(next_first);
    any = true;
    row = next_row;
    after_gap = symbol.is_gap;
  }
  if (rule.option == RuleOptions::kEnd) jump(static_cast<std::uint32_t>(n_words_));
  *state = any ? first << 16 | row : kNoVisit;
}

}  // namespace hyperbaton
