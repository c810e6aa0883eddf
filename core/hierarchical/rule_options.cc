#include "hierarchical/rule_options.hh"

#include <algorithm>

#include "base/math.hh"

namespace hyperbaton {

namespace {

// Source sides with more rules than this are cached.
constexpr std::size_t kMany = 50;

}  // namespace

RuleOptions::RuleOptions(const ChartInput& input, const ChartSettings& settings, std::size_t sentence, RuleCache& cache,
                         std::vector<ChartLm>& lms, Forced* forced)
    : input_(input),
      settings_(settings),
      sentence_(sentence),
      cache_(cache),
      lms_(lms),
      n_lms_(lms.size()),
      forced_(forced),
      scores_(input.grammar.scores, input.grammar.table) {
  for (const auto& [pair, n_gaps] : {std::pair(kGluePair, 2), std::pair(kStartPair, 0), std::pair(kEndPair, 1)}) {
    RuleOption option{};
    option.pair = pair;
    option.source = kNoPhrase;
    option.n_gaps = static_cast<std::uint8_t>(n_gaps);
    add(option, {}, false);
  }
}

float RuleOptions::weighted(std::span<const float> values) const {
  float sum = 0;
  for (std::size_t i = 0; i < values.size(); ++i) sum += values[i] * input_.weights[i];
  return sum;
}

std::span<const WordId> RuleOptions::target_of(std::int64_t pair) const {
  const auto& table = input_.grammar.table;
  const auto words = table.target.read(table.targets[to_size(pair)], room_);
  for (const auto word : words)
    if (word >= input_.grammar.n_target_words) throw_damaged("a rule has a word that is not in the vocabulary");
  return words;
}

void RuleOptions::own_values(std::int64_t pair, std::uint32_t source, std::size_t n_words, float* values) const {
  const auto& grammar = input_.grammar;
  const std::size_t n = grammar.scores.n();
  std::fill_n(values, input_.n_own(), 0.0F);
  if (pair >= 0) {
    const auto row = to_size(pair);
    scores_.copy({.pair = row, .source = source, .target = grammar.table.targets[row]}, values);
    // Scores of a damaged file may be NaN, which becomes the floor: the order of the arguments matters.
    for (auto& value : std::span(values, n))
      value = std::min(std::max(kLogFloor, static_cast<float>(math::log(value))), -kLogFloor);
  }
  // As in Moses, the sentence's start and end are words, too.
  const bool is_edge = pair == kStartPair || pair == kEndPair;
  values[n] = -static_cast<float>(n_words + (is_edge ? 1 : 0));
  values[n + 1] = 1;
  values[n + 2] = pair == kUnknownPair ? kLogFloor : 0;
  values[n + 3] = pair == kGluePair ? kGlueValue : 0;
}

void RuleOptions::add_own_values(const RuleOption& option, float* columns) const {
  std::size_t n_words = 0;
  for (const auto& symbol : target(option)) n_words += symbol.is_gap ? 0 : 1;
  values_.resize(input_.n_own());
  own_values(option.pair, option.source, n_words, values_.data());
  for (std::size_t i = 0; i < values_.size(); ++i) columns[i] += values_[i];
}

// Score the words of a rule without context: nothing is known about gaps.
float RuleOptions::estimate_words(std::span<const WordId> target) const {
  float sum = 0;
  for (const auto& [name, lm] : input_.lms) {
    LmState states[2] = {lm.model.null_state(), {}};
    int now = 0;
    for (const auto word : target) {
      if (gap_number(word) >= 0) {
        states[now] = lm.model.null_state();
        continue;
      }
      sum += lm.weight * lm.model.score(states[now], lm.number(word), states[1 - now]);
      now = 1 - now;
    }
  }
  return sum;
}

// Whether the words of a rule can be part of the forced translation.
bool RuleOptions::possible(std::span<const WordId> target) const {
  if (!forced_) return true;
  ForcedPart part;
  for (const auto word : target) {
    if (gap_number(word) >= 0)
      part = {};
    else if (!forced_->append(part, word))
      return false;
  }
  return true;
}

RankedPairs RuleOptions::rank(std::uint32_t phrase) const {
  const auto pairs = input_.grammar.table.pairs_of(phrase);
  RankedPairs ranked;
  values_.resize(input_.n_own());
  for (auto pair = static_cast<std::int64_t>(pairs.first); pair < static_cast<std::int64_t>(pairs.last); ++pair) {
    const auto target = target_of(pair);
    if (!possible(target)) continue;
    const auto n_words = std::ranges::count_if(target, [&](WordId word) { return gap_number(word) < 0; });
    own_values(pair, phrase, to_size(n_words), values_.data());
    const float score = weighted(values_);
    ranked.push_back({.pair = pair, .score = score, .estimate = score + estimate_words(target)});
  }
  // Ties keep the order of the table.
  std::ranges::stable_sort(ranked, std::greater<>(), &RankedPair::estimate);
  const auto limit = settings_.lookup.table_limit;
  if (limit > 0 && ranked.size() > limit) ranked.resize(limit);
  return ranked;
}

RuleOptions::Range RuleOptions::of_phrase(std::uint32_t phrase) {
  const auto [known, found] = by_phrase_.find_or_add(phrase);
  if (found) return ranges_[*known];
  *known = static_cast<std::uint32_t>(ranges_.size());
  const bool many = input_.grammar.table.pairs_of(phrase).size() > kMany && !forced_;
  auto ranked = many ? cache_.find(phrase) : nullptr;
  if (!ranked) {
    ranked = std::make_shared<const RankedPairs>(rank(phrase));
    if (many) cache_.add(phrase, ranked, ranked->size() * sizeof(RankedPair));
  }
  Range range{static_cast<std::uint32_t>(options_.size()), 0};
  for (const auto& row : *ranked) {
    RuleOption option{};
    option.pair = row.pair;
    option.source = phrase;
    option.score = row.score;
    add(option, target_of(row.pair), true);
  }
  range.last = static_cast<std::uint32_t>(options_.size());
  ranges_.push_back(range);
  return range;
}

RuleOptions::Range RuleOptions::add_single(std::int64_t pair, std::span<const WordId> target) {
  if (!possible(target)) return {0, 0};
  RuleOption option{};
  option.pair = pair;
  option.source = kNoPhrase;
  add(option, target, false);
  const auto last = static_cast<std::uint32_t>(options_.size());
  return {last - 1, last};
}

RuleOptions::Range RuleOptions::of_unknown(int position) {
  const auto at = to_size(input_.source.offsets[sentence_] + position);
  return add_single(kUnknownPair, settings_.lookup.drop_unknown ? std::span<const WordId>() : input_.copies.subspan(at, 1));
}

RuleOptions::Range RuleOptions::of_demand(std::size_t demand) {
  return add_single(kDemandedPair, slice(input_.demands.words, input_.demands.offsets, demand));
}

std::size_t RuleOptions::n_source_symbols(const RuleOption& option) const {
  if (option.source == kNoPhrase) return std::max<std::size_t>(option.n_gaps, 1);
  return input_.grammar.table.source.length(option.source);
}

bool RuleOptions::source_is_gap(const RuleOption& option, std::size_t symbol) const {
  if (option.source == kNoPhrase) return option.n_gaps > 0;
  return input_.grammar.table.source.word(option.source, symbol) == input_.grammar.source_gap;
}

std::vector<Link> RuleOptions::links(const RuleOption& option) const {
  std::vector<Link> links;
  if (option.pair >= 0) {
    const auto n_source = n_source_symbols(option);
    for (const auto link : input_.grammar.table.links_of(to_size(option.pair))) {
      if (link.source >= n_source || link.target >= option.n_target)
        throw_damaged("a rule has a link that is out of range");
      links.push_back({link.source, link.target});
    }
  } else if (option.pair == kUnknownPair && option.n_target > 0) {
    links.push_back({0, 0});
  }
  std::ranges::sort(links, [](Link a, Link b) { return a.target != b.target ? a.target < b.target : a.source < b.source; });
  return links;
}

void RuleOptions::add(RuleOption option, std::span<const WordId> target, bool from_table) {
  option.target = static_cast<std::uint32_t>(symbols_.size());
  // Rules that are not in the table have words or gaps.
  for (std::uint32_t g = 0; g < option.n_gaps; ++g) symbols_.push_back({g, true});
  std::uint32_t gaps_seen = 0;
  for (const auto word : target) {
    // A required translation may contain any word.
    const int gap = option.pair == kDemandedPair || option.pair == kUnknownPair ? -1 : gap_number(word);
    if (gap >= 0) gaps_seen |= 1U << gap;
    symbols_.push_back(gap >= 0 ? RuleSymbol{static_cast<std::uint32_t>(gap), true} : RuleSymbol{word, false});
  }
  option.n_target = static_cast<std::uint32_t>(symbols_.size()) - option.target;
  if (from_table) {
    for (std::size_t i = 0; i < n_source_symbols(option); ++i) option.n_gaps += source_is_gap(option, i);
    const auto n_target_gaps =
        std::ranges::count_if(std::span(symbols_).subspan(option.target), [](const RuleSymbol& s) { return s.is_gap; });
    if (option.n_gaps > kMaxGaps || gaps_seen != (1U << option.n_gaps) - 1 || n_target_gaps != option.n_gaps)
      throw_damaged("a rule has unpaired gaps");
  } else {
    std::vector<float> values(input_.n_own());
    own_values(option.pair, option.source, target.size(), values.data());
    option.score = weighted(values);
  }

  // Source words are visited in the order of their linked target words, each once.
  option.visits = static_cast<std::uint32_t>(symbols_.size());
  const auto linked = input_.features.n_values() > 0 ? links(option) : std::vector<Link>();
  std::uint64_t visited[4] = {};
  auto link = linked.begin();
  for (std::uint32_t t = 0; t < option.n_target; ++t) {
    if (const auto symbol = symbols_[option.target + t]; symbol.is_gap) symbols_.push_back(symbol);
    for (; link != linked.end() && link->target == t; ++link) {
      auto& bits = visited[link->source / 64 % 4];
      const auto bit = std::uint64_t{1} << (link->source % 64);
      if (!(bits & bit)) symbols_.push_back({link->source, false});
      bits |= bit;
    }
  }
  option.n_visits = static_cast<std::uint32_t>(symbols_.size()) - option.visits;

  for (auto& lm : lms_) {
    WordRuns runs{.parts = {}, .score = 0};
    runs.parts.fill(ChartLm::nothing());
    auto* run = runs.parts.data();
    if (option.pair == kStartPair) *run = ChartLm::begin();
    for (const auto symbol : std::span(symbols_).subspan(option.target, option.n_target)) {
      if (!symbol.is_gap)
        runs.score += lm.append(*run, symbol.value);
      else if (run++ == runs.parts.data())
        option.first_gap = static_cast<std::uint8_t>(symbol.value);
    }
    runs_.push_back(runs);
    option.words_score += lm.weight() * runs.score;
  }
  options_.push_back(option);
}

}  // namespace hyperbaton
