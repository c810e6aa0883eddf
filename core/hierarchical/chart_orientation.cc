#include "hierarchical/chart_orientation.hh"

#include "decode/distance.hh"
#include "hierarchical/rule_options.hh"
#include "phrases/distance_classes.hh"

namespace hyperbaton {

namespace {

SourceSpan source_span(const AppliedRule& rule, SymbolRange symbols) {
  return {rule.positions[symbols.first], rule.positions[symbols.last]};
}

std::uint32_t packed(SourceSpan span, bool begin, bool end) {
  return static_cast<std::uint32_t>(begin ? span.begin : 0) << 16 | static_cast<std::uint32_t>(end ? span.end : 0);
}

}  // namespace

void ChartOrientation::check(const std::string& name, const OptionScorer& scorer, const OptionScorer&,
                             std::span<const std::int64_t>) {
  if (scorer.is_normalised()) throw Error(name + ": a derivation does not know which words are translated");
  if (scorer.is_sparse) throw Error(name + ": sparse features are those of phrases");
}

ChartOrientation::ChartOrientation(std::span<const OptionScorer> scorers, std::size_t /*sentence*/, int /*n_words*/)
    : scorers_(scorers) {
  for (const auto& scorer : scorers) {
    const bool before = scorer.side == Side::Before, neighbour = scorer.rule == StepRule::Neighbour;
    const bool distance = scorer.rule == StepRule::Distance;
    first_.row |= before;
    last_.row |= !before;
    first_.begin |= before || neighbour || distance || scorer.times_distance;
    first_.end |= !distance && (before || neighbour);
    last_.begin |= !distance && (!before || neighbour);
    last_.end |= !before || neighbour || distance || scorer.times_distance;
  }
}

ChartOrientation::Ends ChartOrientation::ends(const AppliedRule& rule, const RulePart& part) const {
  if (part.gap == RulePart::kWords) {
    const auto block = [&](SymbolRange symbols, std::uint32_t content) {
      const auto span = source_span(rule, symbols);
      return Block{span, rule.blocks->row(content, span.begin)};
    };
    const auto first = block(part.first, part.first_block);
    return {first, part.first.first == part.last.first ? first : block(part.last, part.last_block)};
  }
  // Words without links next to a gap belong to the block at its edge.
  const auto gap = rule.gap_spans[part.gap], wide = source_span(rule, part.first);
  const auto* state = rule.gaps[part.gap];
  const auto block = [&](const std::uint32_t* words) {
    SourceSpan span{static_cast<int>(words[0] >> 16), static_cast<int>(words[0] & 0xffff)};
    if (span.begin == gap.begin) span.begin = wide.begin;
    if (span.end == gap.end) span.end = wide.end;
    return Block{span, words[1]};
  };
  return {block(state), block(state + 2)};
}

void ChartOrientation::meet(const AppliedRule& rule, const Block& previous, const Block& next, const RulePart& part,
                            double& score, float* values) const {
  for (const auto& scorer : scorers_) {
    const bool before = scorer.side == Side::Before;
    const auto row = before ? next.row : previous.row;
    if (row != kNoRow) {  // there is nothing before the first phrase
      const bool hierarchical = scorer.rule == StepRule::Hierarchical;
      const auto from = hierarchical && before ? source_span(rule, part.before) : previous.span;
      const auto to = hierarchical && !before ? source_span(rule, part.from_here) : next.span;
      const std::size_t column = scorer.rule == StepRule::Distance
                                     ? distance_class(from.end - to.begin, scorer.cuts)
                                     : scorer.merge[static_cast<std::size_t>(step_orientation(from, to))];
      float value = scorer.scores[row * scorer.n_classes + column];
      if (scorer.times_distance) value *= static_cast<float>(jump_distance(previous.span, next.span));
      score += scorer.weight(column) * value;
      if (values) values[scorer.n_values() == 1 ? 0 : column] += value;
    }
    if (values) values += scorer.n_values();
  }
}

std::uint32_t ChartOrientation::canonical(std::uint32_t row, Side side, const SentenceBlocks& blocks) {
  if (row == kNoRow) return row;
  auto& canonical = canonical_[static_cast<std::size_t>(side)];
  if (canonical.empty()) {
    Interner numbers;
    std::vector<std::uint32_t> firsts;
    std::vector<float> all;
    for (std::uint32_t r = blocks.first_row; r < blocks.first_row + blocks.blocks.size(); ++r) {
      all.clear();
      for (const auto& scorer : scorers_) {
        const auto scores = scorer.scores.subspan(r * scorer.n_classes, scorer.n_classes);
        if (scorer.side == side) all.insert(all.end(), scores.begin(), scores.end());
      }
      const auto [number, is_new] = numbers.number(std::span<const float>(all));
      if (is_new) firsts.push_back(r);
      canonical.push_back(firsts[number]);
    }
  }
  return canonical[row - blocks.first_row];
}

void ChartOrientation::combine(const AppliedRule& rule, std::uint32_t* state, double& score, float* values) {
  Block first, last;
  for (const auto& part : rule.parts) {
    const auto found = ends(rule, part);
    if (&part == rule.parts.data())
      first = found.first;
    else
      meet(rule, last, found.first, part, score, values);
    last = found.last;
  }
  // Nothing comes before a prefix of the sentence.
  if (rule.option == RuleOptions::kGlue) first = {};
  state[0] = packed(first.span, first_.begin, first_.end);
  state[1] = first_.row ? canonical(first.row, Side::Before, *rule.blocks) : kNoRow;
  state[2] = packed(last.span, last_.begin, last_.end);
  state[3] = last_.row ? canonical(last.row, Side::After, *rule.blocks) : kNoRow;
}

}  // namespace hyperbaton
