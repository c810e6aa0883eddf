#include "hierarchical/search.hh"

#include <algorithm>
#include <limits>

namespace hyperbaton {

namespace {

bool inside(SourceSpan inner, SourceSpan outer) { return outer.begin <= inner.begin && inner.end <= outer.end; }
bool equal(SourceSpan a, SourceSpan b) { return a.begin == b.begin && a.end == b.end; }
bool crosses(SourceSpan a, SourceSpan b) { return a.begin < b.end && b.begin < a.end && !inside(a, b) && !inside(b, a); }
template <class T>
SourceSpan span_of(const T& of) {
  return {of.begin, of.end};
}

template <class T>
std::span<const T> of_sentence(std::span<const T> all, std::size_t sentence) {
  const auto [first, last] = std::ranges::equal_range(all, sentence, {}, &T::sentence);
  return {first, last};
}

}  // namespace

std::vector<std::string> ChartInput::column_names() const {
  std::vector<std::string> names;
  for (const auto& lm : lms) names.push_back(lm.name);
  std::ranges::copy(features.column_names(), std::back_inserter(names));
  names.insert(names.end(), grammar.scores.n(), std::string(kTableFeature));
  names.insert(names.end(), kOwnFeatureNames.begin(), kOwnFeatureNames.end());
  names.emplace_back(kGlueFeature);
  return names;
}

void ChartInput::add(const std::string& name, const FeatureInput& feature) {
  std::visit(
      [&]<class Input>(const Input& input) {
        if constexpr (std::same_as<Input, WeightedLm>) {
          if (input.words.size() < grammar.n_target_words)
            throw Error("a language model must have a number for each target word");
          lms.push_back({.name = name, .input = input});
        } else if constexpr (ChartKinds::has<Input>) {
          if constexpr (std::same_as<Input, OptionScorer>) {
            const std::size_t n_rows = blocks.empty() ? 0 : blocks.back().first_row + blocks.back().blocks.size();
            if (blocks.size() + 1 != source.offsets.size() || input.scores.size() != n_rows * input.n_classes)
              throw Error(name + ": there must be a row of scores for each phrase pair in the rules of each sentence");
          }
          features.add(name, input, source.offsets);
        } else {
          throw Error(name +
                      ": this kind of feature scores the steps of phrases, in their order and with their coverage, "
                      "which a derivation by rules does not have");
        }
      },
      feature);
}

ChartSearch::ChartSearch(const ChartInput& input, const ChartSettings& settings, std::size_t sentence, RuleCache& cache,
                         Poll& poll)
    : input_(input),
      settings_(settings),
      sentence_(sentence),
      poll_(poll),
      words_(input.source[sentence]),
      n_words_(static_cast<int>(words_.size())),
      walls_(of_sentence(input.walls, sentence)),
      zones_(of_sentence(input.zones, sentence)),
      demands_(of_sentence(input.demands.spans, sentence)),
      first_demand_(to_size(demands_.data() - input.demands.spans.data())),
      forced_(input.forced.any() ? std::optional<Forced>(input.forced[sentence]) : std::nullopt),
      lms_([&] {
        std::vector<ChartLm> lms;
        lms.reserve(input.lms.size());
        for (const auto& lm : input.lms) lms.emplace_back(lm.input);
        return lms;
      }()),
      options_(input, settings, sentence, cache, lms_, forced_ ? &*forced_ : nullptr),
      matcher_(input.grammar.trie, words_),
      features_(input.features, sentence, n_words_, 2 * lms_.size(), lms_.size()),
      at_forced_(features_.end()),
      n_state_(at_forced_ + (forced_ ? 2 : 0)),
      keep_arcs_(settings.n_best.n > 1 || settings.graph || settings.n_rescored > 0),
      cells_(to_size(n_words_) + 1),
      glued_(to_size(n_words_) + 1) {
  if (!input.blocks.empty()) parts_.emplace(input.blocks[sentence]);
  const int max_span = settings.max_span > 0 ? settings.max_span : n_words_;
  for (int begin = 0; begin <= n_words_; ++begin) {
    int widest = std::min(max_span, n_words_ - begin);
    for (const auto& demand : demands_)
      if (demand.begin == begin) widest = std::max(widest, demand.end - begin);
    cells_[to_size(begin)].resize(to_size(widest) + 1);
  }
}

template <class Fill>
void ChartSearch::each_span(const Fill& fill) {
  for (int begin = n_words_ - 1; begin >= 0; --begin) {
    matcher_.start(begin);
    const int widest = static_cast<int>(cells_[to_size(begin)].size()) - 1;
    for (int end = begin + 1; end <= begin + widest; ++end) fill({begin, end});
  }
}

bool ChartSearch::run() {
  each_span([&](SourceSpan span) { fill_span(span); });
  for (int end = 0; end <= n_words_; ++end) fill_glued(end);
  const std::size_t n = hypotheses_.size();
  finish();
  return hypotheses_.size() > n;
}

bool ChartSearch::allows(SourceSpan span) const {
  return std::ranges::none_of(walls_, [&](const Wall& w) { return span.begin <= w.after && w.after + 1 < span.end; }) &&
         std::ranges::none_of(zones_, [&](const Zone& z) { return crosses(span, span_of(z)); }) &&
         std::ranges::none_of(demands_, [&](const Demand& d) {
           return crosses(span, span_of(d)) || (inside(span, span_of(d)) && !equal(span, span_of(d)));
         });
}

// Protected zones must lie inside one gap of a rule that covers more.
bool ChartSearch::allows(SourceSpan span, const RuleMatch& match) const {
  const auto in_gap = [&](SourceSpan part) {
    return std::ranges::any_of(std::span(match.gaps).first(match.n_gaps),
                               [&](SourceSpan gap) { return inside(part, gap); });
  };
  return std::ranges::all_of(
             zones_,
             [&](const Zone& z) { return inside(span, span_of(z)) || !inside(span_of(z), span) || in_gap(span_of(z)); }) &&
         std::ranges::all_of(demands_, [&](const Demand& d) { return !inside(span_of(d), span) || in_gap(span_of(d)); });
}

bool ChartSearch::covers(const RuleOption& option, SourceSpan span, const RuleMatch& match) const {
  int at = span.begin;
  std::size_t gap = 0;
  for (std::size_t k = 0; k < options_.n_source_symbols(option); ++k) {
    const bool is_gap = options_.source_is_gap(option, k);
    if (is_gap && (gap == match.n_gaps || match.gaps[gap].begin != at)) return false;
    at = is_gap ? match.gaps[gap++].end : at + 1;
  }
  return at == span.end && gap == match.n_gaps;
}

template <class OnOptions>
void ChartSearch::match(SourceSpan span, const OnOptions& on_options) {
  const bool allowed = !has_constraints() || allows(span);
  bool any = false;
  const auto has_hypotheses = [&](int begin, int end) {
    return to_size(end - begin) < cells_[to_size(begin)].size() && cell({begin, end}).size() > 0;
  };
  // Longer ones exist only for a required translation.
  const bool within = settings_.max_span <= 0 || span.end - span.begin <= settings_.max_span;
  matcher_.extend(span.end, has_hypotheses, [&](const RuleMatch& match) {
    if (!allowed || !within || (has_constraints() && !allows(span, match))) return;
    any = true;
    const auto options = options_.of_phrase(match.phrase);
    if (options.empty()) return;
    if (!covers(options_[options.first], span, match)) throw_damaged("the rule index belongs to a different table");
    on_options(options, std::span(match.gaps).first(match.n_gaps));
  });
  for (std::size_t d = 0; d < demands_.size(); ++d)
    if (equal(span, span_of(demands_[d]))) {
      any = true;
      on_options(options_.of_demand(first_demand_ + d), std::span<const SourceSpan>());
    }
  if (!any && allowed && span.end == span.begin + 1)
    on_options(options_.of_unknown(span.begin), std::span<const SourceSpan>());
}

void ChartSearch::find_blocks(SentenceBlocks& blocks) {
  parts_.emplace(blocks);
  Interner placed;  // source sides with the positions of their words
  std::vector<std::uint32_t> key;
  each_span([&](SourceSpan span) {
    match(span, [&](RuleOptions::Range options, std::span<const SourceSpan> gaps) {
      poll_();
      if (options.empty()) return;
      cell(span) = {0, 1};
      const auto& any = options_[options.first];
      positions_.clear();
      place(any, span, gaps, positions_);
      key.assign(1, options.first);
      for (std::size_t k = 0; k + 1 < positions_.size(); ++k)
        if (!options_.source_is_gap(any, k)) key.push_back(positions_[k]);
      if (!placed.number(std::span<const std::uint32_t>(key)).second) return;
      for (auto option = options.first; option < options.last; ++option)
        for (const auto& part : parts_->of(options_, option)) {
          if (part.gap != RulePart::kWords) continue;
          blocks.add(part.first_block, {positions_[part.first.first], positions_[part.first.last]});
          blocks.add(part.last_block, {positions_[part.last.first], positions_[part.last.last]});
        }
    });
    if (cell(span).size() > 0) matcher_.close(span.end);
  });
}

void ChartSearch::fill_span(SourceSpan span) {
  cubes_.clear();
  ++counts_.spans;
  match(span, [&](RuleOptions::Range options, std::span<const SourceSpan> gap_spans) {
    std::array<Cell, kMaxGaps> gaps;
    for (std::size_t g = 0; g < gap_spans.size(); ++g) gaps[g] = cell(gap_spans[g]);
    add_cube(options, std::span(gaps).first(gap_spans.size()), span);
  });
  auto& here = cell(span);
  here = search(span);
  if (here.size() > 0) matcher_.close(span.end);
}

void ChartSearch::fill_glued(int end) {
  cubes_.clear();
  if (end == 0) {
    add_cube({RuleOptions::kStart, RuleOptions::kStart + 1}, {}, {0, 0});
  } else {
    for (int begin = 0; begin < end; ++begin) {
      if (to_size(end - begin) >= cells_[to_size(begin)].size()) continue;
      const std::array<Cell, kMaxGaps> gaps{glued_[to_size(begin)], cell({begin, end})};
      if (gaps[0].size() > 0 && gaps[1].size() > 0) add_cube({RuleOptions::kGlue, RuleOptions::kGlue + 1}, gaps, {0, end});
    }
  }
  glued_[to_size(end)] = search({0, end});
}

void ChartSearch::finish() {
  cubes_.clear();
  const auto whole = glued_.back();
  if (whole.size() > 0) add_cube({RuleOptions::kEnd, RuleOptions::kEnd + 1}, std::span(&whole, 1), {0, n_words_});
  search({0, n_words_});
}

void ChartSearch::add_cube(RuleOptions::Range options, std::span<const Cell> gaps, SourceSpan span) {
  if (options.empty()) return;
  if (cubes_.size() == Point::kMaxCubes) throw Error("too many rules match one span: choose a smaller --max-span");
  if (cubes_.empty()) positions_.clear();
  Cube cube{.options = options, .gaps = {}, .n_gaps = static_cast<std::uint8_t>(gaps.size()), .placed = {}};
  std::ranges::copy(gaps, cube.gaps.begin());
  if (features_.any()) {
    std::array<SourceSpan, kMaxGaps> gap_spans{};
    for (std::size_t g = 0; g < gaps.size(); ++g) gap_spans[g] = hypotheses_[gaps[g].first].span;
    cube.placed = place(options_[options.first], span, gap_spans);
  }
  cubes_.push_back(cube);
}

std::array<SourceSpan, kMaxGaps> ChartSearch::gap_spans(const ChartEdge& edge) const {
  std::array<SourceSpan, kMaxGaps> spans{};
  for (std::size_t g = 0; g < options_[edge.option].n_gaps; ++g) spans[g] = hypotheses_[edge.children[g]].span;
  return spans;
}

void ChartSearch::positions(const ChartEdge& edge, SourceSpan span, std::vector<std::uint16_t>& positions) const {
  positions.clear();
  place(options_[edge.option], span, gap_spans(edge), positions);
}

void ChartSearch::place(const RuleOption& option, SourceSpan span, std::span<const SourceSpan> gaps,
                        std::vector<std::uint16_t>& positions) const {
  int at = span.begin;
  std::size_t gap = 0;
  for (std::size_t k = 0; k < options_.n_source_symbols(option); ++k) {
    positions.push_back(static_cast<std::uint16_t>(at));
    at = options_.source_is_gap(option, k) ? gaps[gap++].end : at + 1;
  }
  positions.push_back(static_cast<std::uint16_t>(span.end));
}

ChartSearch::Placed ChartSearch::place(const RuleOption& option, SourceSpan span,
                                       const std::array<SourceSpan, kMaxGaps>& gaps) {
  Placed placed{.gap_spans = gaps,
                .n_words = span.end - span.begin,
                .first_position = static_cast<std::uint32_t>(positions_.size()),
                .n_positions = 0};
  for (std::size_t g = 0; g < option.n_gaps; ++g) placed.n_words -= gaps[g].end - gaps[g].begin;
  place(option, span, gaps, positions_);
  placed.n_positions = static_cast<std::uint32_t>(positions_.size()) - placed.first_position;
  return placed;
}

bool ChartSearch::combine(const ChartEdge& edge, const Placed& placed, std::uint32_t* state, double& score, float* values) {
  const auto& option = options_[edge.option];
  const bool is_end = edge.option == RuleOptions::kEnd;
  score = option.score + option.words_score;
  for (std::size_t g = 0; g < option.n_gaps; ++g) score += hypotheses_[edge.children[g]].best.score;
  if (forced_ && !follow_forced(edge, state + at_forced_)) return false;

  const auto* runs = options_.runs(edge.option);
  for (std::size_t i = 0; auto& lm : lms_) {
    LmPart part = runs->parts[0];
    float sum = 0;
    for (std::size_t g = 0; g < option.n_gaps; ++g) {
      const auto* child = state_of(edge.children[g ^ option.first_gap]) + 2 * i;
      sum += lm.append(part, LmPart{child[0], child[1]});
      sum += lm.append(part, runs->parts[g + 1]);
    }
    if (is_end) sum += lm.finish(part);
    score += lm.weight() * sum;
    if (values) values[i] += sum + runs->score;
    state[2 * i] = part.left;
    state[2 * i + 1] = part.right;
    ++i, ++runs;
  }

  if (features_.any()) {
    AppliedRule rule{.options = options_,
                     .option = edge.option,
                     .n_words = placed.n_words,
                     .positions = std::span(positions_).subspan(placed.first_position, placed.n_positions),
                     .gap_spans = placed.gap_spans};
    if (parts_) {
      rule.parts = parts_->of(options_, edge.option);
      rule.blocks = &input_.blocks[sentence_];
    }
    features_.each([&](auto& feature) {
      for (std::size_t g = 0; g < option.n_gaps; ++g) rule.gaps[g] = state_of(edge.children[g]) + feature.state;
      feature.feature.combine(rule, state + feature.state, score, values ? values + feature.column : nullptr);
    });
  }
  // Nothing follows the end: all paths to it are recombined.
  if (is_end) std::fill_n(state, n_state_, 0U);
  return true;
}

bool ChartSearch::follow_forced(const ChartEdge& edge, std::uint32_t* state) {
  ForcedPart part = edge.option == RuleOptions::kStart ? forced_->start() : ForcedPart();
  for (const auto symbol : options_.target(options_[edge.option])) {
    const auto* child = symbol.is_gap ? state_of(edge.children[symbol.value]) + at_forced_ : nullptr;
    if (!(child ? forced_->append(part, {child[0], child[1]}) : forced_->append(part, symbol.value))) return false;
  }
  state[0] = part.starts;
  state[1] = part.length;
  return edge.option != RuleOptions::kEnd || forced_->complete(part);
}

void ChartSearch::add_values(const ChartEdge& edge, SourceSpan span, float* columns) {
  std::vector<std::uint32_t> state(n_state_);
  double score;
  positions_.clear();
  combine(edge, place(options_[edge.option], span, gap_spans(edge)), state.data(), score, columns);
  options_.add_own_values(options_[edge.option], columns + input_.first_own());
}

bool ChartSearch::score(Point point) {
  ++counts_.hypotheses;
  const auto at = scored_.size() * n_state_;
  if (at + n_state_ > scored_states_.size()) scored_states_.resize(2 * (at + n_state_));
  Candidate candidate{.score = 0, .point = point};
  if (!combine(edge_of(candidate), cubes_[point.cube()].placed, scored_states_.data() + at, candidate.score, nullptr))
    return false;
  scored_.push_back(candidate);
  return true;
}

ChartSearch::Cell ChartSearch::search(SourceSpan span) {
  if (cubes_.empty()) return {};
  counts_.cubes += static_cast<std::int64_t>(cubes_.size());
  scored_.clear();
  queue_.clear();
  open_.clear();
  open_arcs_.clear();
  seen_.clear();
  std::ranges::fill(slots_, 0U);
  for (std::uint64_t c = 0; c < cubes_.size(); ++c) {
    poll_();
    const Point corner{c << (1 + kMaxGaps) * Point::kRankBits};
    if (score(corner))
      queue_.push(last_scored());
    else
      push_neighbours(corner, false);
  }
  for (std::size_t n_taken = 0; !queue_.empty() && n_taken < settings_.pop_limit; ++n_taken) {
    poll_();
    const auto best = static_cast<std::uint32_t>(queue_.front());
    take(best);
    push_neighbours(scored_[best].point, true);
  }
  return keep(span);
}

void ChartSearch::push_neighbours(Point point, bool replaces) {
  const auto& cube = cubes_[point.cube()];
  for (passed_.assign(1, point); !passed_.empty();) {
    const auto from = passed_.back();
    passed_.pop_back();
    for (std::size_t d = 0; d < 1U + cube.n_gaps; ++d) {
      const auto size = d == 0 ? cube.options.last - cube.options.first : cube.gaps[d - 1].size();
      if (from.rank(d) + 1 >= size || from.rank(d) == Point::kMaxRank) continue;
      const auto next = from.next(d);
      if (!next.is_on_edge(d) && seen_.find_or_add(next.bits).second) continue;
      if (!score(next)) {
        passed_.push_back(next);
      } else if (replaces) {
        queue_.replace_front(last_scored());
        replaces = false;
      } else {
        queue_.push(last_scored());
      }
    }
  }
  if (replaces) queue_.pop_front();
}

void ChartSearch::take(std::uint32_t candidate) {
  const auto state = [&](std::uint32_t of) { return std::span(scored_states_.data() + of * n_state_, n_state_); };
  // The slot of a state, or a free one.
  const auto find = [&](std::span<const std::uint32_t> wanted) {
    auto at = hash_numbers(wanted.data(), n_state_) & (slots_.size() - 1);
    while (slots_[at] && !std::ranges::equal(state(open_[slots_[at] - 1].state), wanted))
      at = (at + 1) & (slots_.size() - 1);
    return at;
  };
  if (2 * (open_.size() + 1) > slots_.size()) {
    slots_.assign(std::max<std::size_t>(256, 2 * slots_.size()), 0U);
    for (std::size_t i = 0; i < open_.size(); ++i) slots_[find(state(open_[i].state))] = static_cast<std::uint32_t>(i + 1);
  }
  auto& slot = slots_[find(state(candidate))];
  if (!slot) {
    open_.push_back({.best = candidate, .state = candidate, .arcs = kNone});
    slot = static_cast<std::uint32_t>(open_.size());
    return;
  }
  auto& present = open_[slot - 1];
  if (scored_[candidate].score > scored_[present.best].score) std::swap(candidate, present.best);
  if (!keep_arcs_) return;
  open_arcs_.push_back({candidate, present.arcs});
  present.arcs = static_cast<std::uint32_t>(open_arcs_.size() - 1);
}

ChartSearch::Cell ChartSearch::keep(SourceSpan span) {
  order_.clear();
  for (std::uint32_t i = 0; i < open_.size(); ++i) order_.emplace_back(-scored_[open_[i].best].score, i);
  if (settings_.beam.size > 0 && settings_.beam.size < order_.size()) {
    const auto end = order_.begin() + static_cast<std::ptrdiff_t>(settings_.beam.size);
    std::ranges::nth_element(order_, end);
    order_.erase(end, order_.end());
  }
  std::ranges::sort(order_);
  const double worst = open_.empty() ? 0 : order_.front().first - settings_.beam.log_threshold;
  Cell cell{static_cast<std::uint32_t>(hypotheses_.size()), 0};
  for (const auto& [loss, i] : order_) {
    if (loss > worst) break;
    const auto& open = open_[i];
    const auto first = static_cast<std::uint32_t>(arcs_.size());
    for (auto at = open.arcs; at != kNone; at = open_arcs_[at].next)
      arcs_.push_back(edge_of(scored_[open_arcs_[at].candidate]));
    hypotheses_.push_back({.best = edge_of(scored_[open.best]),
                           .first_arc = first,
                           .last_arc = static_cast<std::uint32_t>(arcs_.size()),
                           .span = span});
    const auto* state = scored_states_.data() + open.state * n_state_;
    states_.insert(states_.end(), state, state + n_state_);
  }
  check_size();
  cell.last = static_cast<std::uint32_t>(hypotheses_.size());
  return cell;
}

void ChartSearch::check_size() const {
  constexpr std::size_t kMaxBytes = std::size_t{4} << 30;
  if (hypotheses_.size() * sizeof(ChartHypothesis) + states_.size() * sizeof(std::uint32_t) +
          arcs_.size() * sizeof(ChartEdge) >
      kMaxBytes)
    throw Error(
        "the hypotheses of one sentence need more than 4 GiB: choose a smaller --stack (0 keeps all), --max-span or "
        "--max-words");
}

}  // namespace hyperbaton
