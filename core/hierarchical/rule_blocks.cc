#include "hierarchical/rule_blocks.hh"

#include <algorithm>

#include "hierarchical/rule_options.hh"
#include "phrases/extract.hh"

namespace hyperbaton {

namespace {

constexpr std::uint16_t kNoSymbol = 0xffff;

// A gap or a run of words of a target side, [begin, end), and the first link of each source symbol in target order.
struct Run {
  std::uint8_t gap;
  std::uint32_t begin, end;
  std::vector<Link> visits;
};

struct CutRule {
  std::vector<Run> runs;
  std::vector<SymbolRange> extents;       // of every linked source symbol, with the words without links that belong to it
  std::vector<std::uint8_t> gaps_before;  // each source symbol
};

// Some of the source symbols of a rule.
struct Piece {
  SymbolRange hull{kNoSymbol, 0};
  int n_symbols = 0;

  void add(SymbolRange range) { add(Piece{range, range.last - range.first}); }
  void add(const Piece& other) {
    hull = {std::min(hull.first, other.hull.first), std::max(hull.last, other.hull.last)};
    n_symbols += other.n_symbols;
  }
  bool is_contiguous() const { return hull.last - hull.first == n_symbols; }
};

CutRule cut_rule(const RuleOptions& options, const RuleOption& option) {
  CutRule cut;
  const auto target = options.target(option);
  const auto links = options.links(option);
  const auto n_symbols = static_cast<std::uint16_t>(options.n_source_symbols(option));
  // Source symbols by gap, and for each symbol the number of gaps before it.
  std::array<std::uint16_t, kMaxGaps> of_gap{};
  cut.gaps_before.resize(n_symbols);
  std::uint8_t n_gaps = 0;
  for (std::uint16_t s = 0; s < n_symbols; ++s) {
    cut.gaps_before[s] = n_gaps;
    if (options.source_is_gap(option, s)) of_gap[n_gaps++] = s;
  }

  // The runs of the target side. Source words are visited in the order of their linked target words, each once.
  auto& runs = cut.runs;
  std::vector<bool> visited(n_symbols);
  auto link = links.begin();
  for (std::uint32_t t = 0; t < option.n_target; ++t) {
    if (target[t].is_gap) {
      const auto gap = of_gap[target[t].value];
      runs.push_back({static_cast<std::uint8_t>(target[t].value), t, t + 1, {{gap, static_cast<std::uint16_t>(t)}}});
      visited[gap] = true;
    } else if (runs.empty() || runs.back().gap != RulePart::kWords) {
      runs.push_back({RulePart::kWords, t, t + 1, {}});
    } else {
      runs.back().end = t + 1;
    }
    for (; link != links.end() && link->target == t; ++link) {
      if (!visited[link->source]) runs.back().visits.push_back(*link);
      visited[link->source] = true;
    }
  }

  auto& extents = cut.extents;
  extents.resize(n_symbols);
  std::uint16_t previous = kNoSymbol;
  for (std::uint16_t s = 0; s < n_symbols; ++s) {
    if (visited[s]) {
      extents[s] = {previous == kNoSymbol ? std::uint16_t{0} : s, static_cast<std::uint16_t>(s + 1)};
      previous = s;
    } else if (previous != kNoSymbol) {
      extents[previous].last = static_cast<std::uint16_t>(s + 1);
    }
  }
  return cut;
}

}  // namespace

std::vector<RulePhrase> phrases_of(const RuleOptions& options, const RuleOption& option) {
  if (option.n_gaps == 0) return {{0, {0, static_cast<std::uint16_t>(options.n_source_symbols(option))}}};
  const auto cut = cut_rule(options, option);
  std::vector<RulePhrase> phrases;
  for (const auto& run : cut.runs) {
    if (run.gap != RulePart::kWords) {
      const auto gap = run.visits.front().source;
      const auto after = static_cast<std::uint16_t>(gap + 1);
      const auto [first, last] = cut.extents[gap];
      if (first < gap) phrases.insert(phrases.begin(), {0, {first, gap}});
      if (after < last) phrases.push_back({run.end, {after, last}});
      continue;
    }
    for (std::size_t k = 0, end; k < run.visits.size(); k = end) {
      Piece piece, longest;
      end = k;
      for (std::size_t j = k; j < run.visits.size(); ++j) {
        piece.add(cut.extents[run.visits[j].source]);
        if (!piece.is_contiguous()) continue;
        longest = piece;
        end = j + 1;
      }
      // A target word that is linked to several phrases belongs to the first.
      const auto target = run.visits[k].target;
      phrases.push_back({k == 0 ? run.begin : target + (run.visits[k - 1].target == target ? 1U : 0U), longest.hull});
    }
  }
  return phrases;
}

std::span<const RulePart> RuleParts::of(const RuleOptions& options, std::uint32_t option) {
  if (option >= by_option_.size()) by_option_.resize(option + 1);
  if (!by_option_[option].is_cut) {
    const auto first = static_cast<std::uint32_t>(parts_.size());
    cut(options, option);
    by_option_[option] = {first, static_cast<std::uint32_t>(parts_.size()), true};
  }
  const auto range = by_option_[option];
  return std::span(parts_).subspan(range.first, range.last - range.first);
}

void RuleParts::cut(const RuleOptions& options, std::uint32_t number) {
  const auto& option = options[number];
  if (option.pair == kStartPair) return;
  const auto target = options.target(option);
  const auto links = options.links(option);
  const auto n_symbols = static_cast<std::uint16_t>(options.n_source_symbols(option));
  if (option.n_gaps == 0) {
    const SymbolRange all{0, n_symbols};
    const auto content = block({target, 0}, links, all);
    parts_.push_back({RulePart::kWords, all, all, content, content});
    return;
  }

  const auto [runs, extents, gaps_before] = cut_rule(options, option);
  const auto first_part = parts_.size();
  std::vector<Piece> pieces;  // of each part, all of its source symbols
  for (const auto& run : runs) {
    if (run.visits.empty()) continue;
    Piece piece;
    std::array<Piece, kMaxGaps + 1> by_place;  // by the number of gaps on their left
    for (const auto [s, t] : run.visits) {
      piece.add(extents[s]);
      by_place[gaps_before[s]].add(extents[s]);
    }
    pieces.push_back(piece);
    const auto first = by_place[gaps_before[run.visits.front().source]].hull,
               last = by_place[gaps_before[run.visits.back().source]].hull;
    RulePart part{run.gap, first, last, 0, 0};
    if (run.gap == RulePart::kWords) {
      const TargetRun words{target.subspan(run.begin, run.end - run.begin), run.begin};
      part.first_block = block(words, links, first);
      part.last_block = first.first == last.first ? part.first_block : block(words, links, last);
    }
    parts_.push_back(part);
  }
  const auto parts = std::span(parts_).subspan(first_part);
  for (std::size_t k = 0; k < parts.size(); ++k) {
    Piece piece;
    parts[k].from_here = parts[k].first;
    for (std::size_t j = k; j < parts.size(); ++j)
      if (piece.add(pieces[j]); piece.is_contiguous()) parts[k].from_here = piece.hull;
    if (k == 0) continue;
    piece = {};
    parts[k].before = parts[k - 1].last;
    for (std::size_t j = k; j-- > 0;)
      if (piece.add(pieces[j]); piece.is_contiguous()) parts[k].before = piece.hull;
  }
}

std::uint32_t RuleParts::block(const TargetRun& run, std::span<const Link> links, SymbolRange source) {
  key_.assign({static_cast<std::uint32_t>(source.last - source.first), static_cast<std::uint32_t>(run.words.size())});
  for (const auto symbol : run.words) key_.push_back(symbol.value);
  for (const auto link : links)
    if (source.first <= link.source && link.source < source.last && run.first <= link.target &&
        link.target < run.first + run.words.size())
      key_.push_back(static_cast<std::uint32_t>(link.source - source.first) << 16 | (link.target - run.first));
  std::sort(key_.begin() + static_cast<std::ptrdiff_t>(2 + run.words.size()), key_.end());
  return added_to_ ? added_to_->add_content(key_) : known_.content(key_);
}

void RuleBlocks::fill_options() {
  options.n_features = 0;
  options.offsets = options.target_offsets = options.link_offsets = {0};
  for (std::size_t s = 0; s < sentences.size(); ++s) {
    sentences[s].first_row = static_cast<std::uint32_t>(options.size());
    for (const auto& [content, span] : sentences[s].blocks) {
      const auto key = sentences[s].key_of(content);
      const auto words = key.subspan(2, key[1]);
      options.sentence.push_back(static_cast<std::uint32_t>(s));
      options.pair.push_back(key[0] & kUnknownContent ? kUnknownPair : kDemandedPair);
      options.begin.push_back(static_cast<std::uint16_t>(span.begin));
      if (span.end - span.begin > kMaxPhraseLength)
        throw Error("a rule has more than " + std::to_string(kMaxPhraseLength) + " words without a gap");
      options.length.push_back(static_cast<std::uint8_t>(span.end - span.begin));
      options.target_words.insert(options.target_words.end(), words.begin(), words.end());
      options.target_offsets.push_back(static_cast<std::int64_t>(options.target_words.size()));
      for (const auto link : key.subspan(2 + words.size()))
        options.links.push_back({static_cast<std::uint16_t>(link >> 16), static_cast<std::uint16_t>(link & 0xffff)});
      options.link_offsets.push_back(static_cast<std::int64_t>(options.links.size()));
    }
    options.offsets.push_back(static_cast<std::int64_t>(options.size()));
  }
  options.score.assign(options.size(), 0);
  options.estimate.assign(options.size(), 0);
}

}  // namespace hyperbaton
