#include "hierarchical/decode.hh"

#include <algorithm>

#include "base/columns.hh"
#include "hierarchical/derivations.hh"
#include "hierarchical/rescoring.hh"

namespace hyperbaton {

namespace {

// The derivations of one sentence, each with offsets from 0.
class Writer {
 public:
  Writer(const ChartInput& input, ChartSearch& chart, std::size_t sentence, bool is_rescored,
         ChartCandidates::OfSentence& out)
      : input_(input),
        chart_(chart),
        derivations_(chart),
        sentence_(sentence),
        is_rescored_(is_rescored),
        out_(out),
        step_of_word_(to_size(chart.n_words())) {}

  // The list by the search's own scores. If it will be rescored, equal translations remain, which other models may
  // prefer, and there are at least `n_rescored`; only equal phrases have equal scores.
  void write_paths(const NBestSettings& settings, std::size_t n_rescored) {
    Interner outputs, ways;
    const std::size_t most = settings.distinct && settings.factor == 0
                                 ? ~std::size_t{0}
                                 : settings.n * std::max<std::size_t>(settings.distinct ? settings.factor : 1, 1);
    std::size_t n_found = 0;
    for (std::size_t rank = 0; rank < n_rescored || (rank < most && n_found < settings.n); ++rank) {
      const auto* found = derivations_.get(chart_.root(), static_cast<std::uint32_t>(rank));
      if (!found) break;
      const Derivation derivation = *found;
      const auto numbers = realise(derivation);
      const bool is_new = !settings.distinct || outputs.number(std::span<const WordId>(words_)).second;
      n_found += is_new;
      if (is_rescored_ ? !settings.distinct || ways.number(numbers).second : is_new) write(derivation, numbers);
    }
  }

  SentenceBlocks phrases() { return phrases_.take(out_.paths); }

  // The chart from the whole sentence down, a row for every path to a hypothesis.
  void write_graph() {
    std::vector<bool> seen(chart_.size());
    std::vector<std::uint32_t> to_visit{chart_.root()};
    seen[chart_.root()] = true;
    while (!to_visit.empty()) {
      const auto id = to_visit.back();
      to_visit.pop_back();
      const auto& h = chart_[id];
      const auto write_edge = [&](const ChartEdge& edge) {
        const auto& option = chart_.options()[edge.option];
        ChartGraphRow row{
            .hypothesis = id, .span = h.span, .pair = option.pair, .children = {-1, -1}, .target = {}, .score = edge.score};
        for (std::size_t g = 0; g < kMaxGaps; ++g) {
          if (edge.children[g] == kNone) continue;
          row.children[g] = edge.children[g];
          if (!seen[edge.children[g]]) to_visit.push_back(edge.children[g]);
          seen[edge.children[g]] = true;
        }
        for (const auto symbol : chart_.options().target(option)) row.target.push_back(word_of(symbol));
        out_.rest.graph.push_back(std::move(row));
      };
      write_edge(h.best);
      for (const auto& arc : chart_.arcs(h)) write_edge(arc);
    }
  }

 private:
  WordId word_of(RuleSymbol symbol) const { return symbol.is_gap ? input_.grammar.gaps[symbol.value] : symbol.value; }

  // Find the words, links and phrases of a derivation; returns the numbers of its phrases if it will be rescored.
  std::span<const std::int64_t> realise(const Derivation& derivation) {
    words_.clear();
    links_.clear();
    phrases_.clear();
    realise(chart_.root(), derivation);
    std::ranges::sort(links_);
    return is_rescored_ ? phrases_.numbers(words_, links_) : std::span<const std::int64_t>();
  }

  // Append the words and links of a derivation. Glue rules nest to the left, as deep as the sentence is long.
  void realise(std::uint32_t id, const Derivation& derivation) {
    const auto edge = derivations_.edge(id, derivation);
    const auto& option = chart_.options()[edge.option];
    std::vector<std::uint16_t> positions, places;  // of source symbols, and of target symbols in the translation
    chart_.positions(edge, chart_[id].span, positions);
    const auto phrases = is_rescored_ ? phrases_of(chart_.options(), option) : std::vector<RulePhrase>();
    auto phrase = phrases.begin();
    const auto begin_phrases = [&] {
      for (; phrase != phrases.end() && phrase->begin == places.size(); ++phrase) {
        const SourceSpan source{positions[phrase->source.first], positions[phrase->source.last]};
        if (source.begin < source.end) phrases_.begin(source, words_.size(), option.pair == kUnknownPair);
      }
    };
    for (const auto symbol : chart_.options().target(option)) {
      begin_phrases();
      places.push_back(static_cast<std::uint16_t>(words_.size()));
      if (!symbol.is_gap)
        words_.push_back(symbol.value);
      else
        realise(edge.children[symbol.value],
                Derivation(*derivations_.get(edge.children[symbol.value], derivation.ranks[symbol.value])));
    }
    begin_phrases();
    for (const auto link : chart_.options().links(option)) links_.push_back({positions[link.source], places[link.target]});
  }

  // Write the derivation that was realised last.
  void write(const Derivation& derivation, std::span<const std::int64_t> phrases) {
    ChartDecoded path;
    path.scores = {derivation.score};
    path.words = words_;
    path.word_offsets.push_back(static_cast<std::int64_t>(words_.size()));
    path.links = links_;
    path.link_offsets.push_back(static_cast<std::int64_t>(links_.size()));

    // Glued hypotheses from the end of the sentence to its start.
    struct Glued {
      std::uint32_t id;
      Derivation derivation;
    };
    std::vector<Glued> glued;
    auto id = derivations_.edge(chart_.root(), derivation).children[0];
    auto rank = derivation.ranks[0];
    while (id != kNone) {
      const Derivation here = *derivations_.get(id, rank);
      glued.push_back({id, here});
      rank = here.ranks[0];
      id = derivations_.edge(id, here).children[0];
    }
    for (auto it = glued.rbegin(); it != glued.rend(); ++it) {
      const auto edge = derivations_.edge(it->id, it->derivation);
      const auto step = write_step(path, it->id, edge, -1);
      if (edge.children[1] != kNone) write_subtree(path, edge.children[1], it->derivation.ranks[1], step);
    }
    const auto row = add_row(path);
    chart_.add_values(derivations_.edge(chart_.root(), derivation), chart_[chart_.root()].span, path.features.data() + row);
    path.step_offsets.push_back(static_cast<std::int64_t>(path.step_begin.size()));
    path.phrases.assign(phrases.begin(), phrases.end());
    path.phrase_offsets.push_back(static_cast<std::int64_t>(phrases.size()));
    for (std::size_t k = 0; k < phrases.size(); ++k)
      path.phrase_steps.push_back(step_of_word_[to_size(phrases_.first_word(k))]);
    out_.paths.push_back(std::move(path));
  }

  void write_subtree(ChartDecoded& path, std::uint32_t id, std::uint32_t rank, std::int32_t parent) {
    const Derivation derivation = *derivations_.get(id, rank);
    const auto edge = derivations_.edge(id, derivation);
    const auto step = write_step(path, id, edge, parent);
    for (std::size_t g = 0; g < kMaxGaps && edge.children[g] != kNone; ++g)
      write_subtree(path, edge.children[g], derivation.ranks[g], step);
  }

  std::int32_t write_step(ChartDecoded& path, std::uint32_t id, const ChartEdge& edge, std::int32_t parent) {
    const auto& option = chart_.options()[edge.option];
    const auto span = chart_[id].span;
    const auto step = static_cast<std::int32_t>(path.step_begin.size());
    path.step_sentence.push_back(static_cast<std::uint32_t>(sentence_));
    path.step_begin.push_back(static_cast<std::uint16_t>(span.begin));
    path.step_end.push_back(static_cast<std::uint16_t>(span.end));
    path.step_pair.push_back(option.pair);
    path.step_parent.push_back(parent);
    for (const auto symbol : chart_.options().target(option)) path.step_target.push_back(word_of(symbol));
    path.step_target_offsets.push_back(static_cast<std::int64_t>(path.step_target.size()));
    chart_.positions(edge, span, positions_);
    for (const auto link : chart_.options().links(option))
      path.step_links.push_back({static_cast<std::uint16_t>(positions_[link.source] - span.begin), link.target});
    path.step_link_offsets.push_back(static_cast<std::int64_t>(path.step_links.size()));
    // The rules in its gaps come later. Glue rules, which have no parent, have no words.
    if (parent >= 0) std::fill(step_of_word_.begin() + span.begin, step_of_word_.begin() + span.end, step);
    const auto row = add_row(path);
    chart_.add_values(edge, span, path.features.data() + row);
    return step;
  }

  std::size_t add_row(ChartDecoded& path) const {
    path.features.resize(path.features.size() + input_.n_values());
    return path.features.size() - input_.n_values();
  }

  const ChartInput& input_;
  ChartSearch& chart_;
  Derivations derivations_;
  std::size_t sentence_;
  bool is_rescored_;
  ChartCandidates::OfSentence& out_;
  std::vector<WordId> words_;
  std::vector<Link> links_;
  SentencePhrases phrases_;
  std::vector<std::uint16_t> positions_;
  std::vector<std::int32_t> step_of_word_;  // the innermost one
};

}  // namespace

std::vector<std::uint8_t> best_rules(const ChartInput& input, const ChartSettings& settings, const Progress& progress) {
  RuleCache cache;
  std::vector<ChartLm> none;
  return mark_best(input.grammar.table, settings.lookup, progress,
                   [&] { return RuleOptions(input, settings, 0, cache, none, nullptr); });
}

RuleBlocks find_blocks(const ChartInput& input, const ChartSettings& settings, RuleCache& cache, const Progress& progress) {
  RuleBlocks blocks;
  blocks.sentences.resize(input.source.offsets.size() - 1);
  const auto order = longest_first(input.source.offsets);
  parallel_chunks(order.size(), 1, settings.lookup.n_threads, progress, [&](std::size_t at, std::size_t, Poll& poll) {
    ChartSearch(input, settings, order[at], cache, poll).find_blocks(blocks.sentences[order[at]]);
  });
  blocks.fill_options();
  return blocks;
}

ChartCandidates decode_chart(const ChartInput& input, const ChartSettings& settings, RuleCache& cache,
                             const Progress& progress) {
  const std::size_t n = input.source.offsets.size() - 1;
  const bool is_rescored = settings.n_rescored > 0;
  ChartCandidates candidates;
  candidates.sentences.resize(n);
  RuleBlocks phrases;
  phrases.sentences.resize(n);
  const auto order = longest_first(input.source.offsets);
  parallel_chunks(n, 1, settings.lookup.n_threads, progress, [&](std::size_t at, std::size_t, Poll& poll) {
    const auto s = order[at];
    auto& out = candidates.sentences[s];
    ChartSearch chart(input, settings, s, cache, poll);
    const bool complete = chart.run();
    out.rest.counts = {chart.counts()};
    if (!complete) return;
    Writer writer(input, chart, s, is_rescored, out);
    writer.write_paths(settings.n_best, settings.n_rescored);
    if (settings.graph) writer.write_graph();
    phrases.sentences[s] = writer.phrases();
  });
  phrases.fill_options();
  for (std::size_t s = 0; s < n; ++s)
    for (auto& path : candidates.sentences[s].paths)
      for (auto& row : path.phrases) row += phrases.options.offsets[s];
  candidates.phrases = std::move(phrases.options);
  return candidates;
}

ChartDecoded choose_best(ChartCandidates&& candidates, const NBestSettings& settings) {
  ChartDecoded all;
  using D = ChartDecoded;
  for (auto& [paths, rest] : candidates.sentences) {
    Interner outputs;
    std::size_t n_chosen = 0;
    for (auto& path : paths) {
      if (n_chosen == settings.n) break;
      if (settings.distinct && !outputs.number(std::span<const WordId>(path.words)).second) continue;
      ++n_chosen;
      append_columns<&D::scores, &D::words, &D::links, &D::step_sentence, &D::step_begin, &D::step_end, &D::step_pair,
                     &D::step_parent, &D::step_target, &D::step_links, &D::features, &D::phrases, &D::phrase_steps,
                     &D::phrase_features>(all, path);
      append_offsets<&D::word_offsets, &D::link_offsets, &D::step_offsets, &D::step_target_offsets, &D::step_link_offsets,
                     &D::phrase_offsets>(all, path);
    }
    paths = {};
    append_columns<&D::counts>(all, rest);
    all.path_offsets.push_back(static_cast<std::int64_t>(all.scores.size()));
    std::ranges::move(rest.graph, std::back_inserter(all.graph));
    all.graph_offsets.push_back(static_cast<std::int64_t>(all.graph.size()));
  }
  return all;
}

}  // namespace hyperbaton
