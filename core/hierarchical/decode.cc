#include "hierarchical/decode.hh"

#include <algorithm>

#include "base/columns.hh"
#include "hierarchical/derivations.hh"
#include "hierarchical/rescoring.hh"

namespace hyperbaton {

namespace {

// The translations of one sentence, with offsets from 0.
class Writer {
 public:
  Writer(const ChartInput& input, ChartSearch& chart, std::size_t sentence, ChartDecoded& out)
      : input_(input),
        chart_(chart),
        derivations_(chart),
        rescoring_(input.rescoring, sentence, chart.n_words()),
        sentence_(sentence),
        out_(out) {}

  // Derivations are rescored until `n_rescored` of them, and the list by the search's own scores, are complete.
  void write_paths(const NBestSettings& settings, std::size_t n_rescored) {
    struct Candidate {
      Derivation derivation;
      std::uint32_t output;
    };
    std::vector<Candidate> pool;
    Interner outputs;
    const std::size_t most = settings.distinct && settings.factor == 0
                                 ? ~std::size_t{0}
                                 : settings.n * std::max<std::size_t>(settings.distinct ? settings.factor : 1, 1);
    if (rescoring_.empty()) n_rescored = 0;
    std::size_t n_found = 0;
    for (std::size_t rank = 0; rank < n_rescored || (rank < most && n_found < settings.n); ++rank) {
      const auto* found = derivations_.get(chart_.root(), static_cast<std::uint32_t>(rank));
      if (!found) break;
      Derivation derivation = *found;
      derivation.score += realise(derivation);
      const auto [output, is_new] = outputs.number(std::span<const WordId>(words_));
      if (settings.distinct && !is_new && rescoring_.empty()) continue;
      n_found += is_new || !settings.distinct;
      pool.push_back({derivation, output});
    }
    if (!rescoring_.empty())
      std::ranges::stable_sort(pool, std::greater{}, [](const Candidate& found) { return found.derivation.score; });
    std::vector<bool> is_written(outputs.size());
    n_found = 0;
    for (const auto& [derivation, output] : pool) {
      if (n_found == settings.n) return;
      if (settings.distinct && is_written[output]) continue;
      is_written[output] = true;
      realise(derivation);
      write(derivation);
      ++n_found;
    }
  }

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
        out_.graph.push_back(std::move(row));
      };
      write_edge(h.best);
      for (const auto& arc : chart_.arcs(h)) write_edge(arc);
    }
  }

 private:
  WordId word_of(RuleSymbol symbol) const { return symbol.is_gap ? input_.grammar.gaps[symbol.value] : symbol.value; }

  // Find the words and links of a derivation, and the weighted score of the models that rescore it.
  double realise(const Derivation& derivation) {
    words_.clear();
    links_.clear();
    visits_.clear();
    n_rules_ = 0;
    realise(chart_.root(), derivation);
    return rescoring_.empty() ? 0 : rescoring_.score(visits_);
  }

  // Append the words and links of a derivation. Glue rules nest to the left, as deep as the sentence is long.
  void realise(std::uint32_t id, const Derivation& derivation) {
    const auto edge = derivations_.edge(id, derivation);
    const auto& option = chart_.options()[edge.option];
    std::vector<std::uint16_t> places;  // of target symbols in the translation
    for (const auto symbol : chart_.options().target(option)) {
      places.push_back(static_cast<std::uint16_t>(words_.size()));
      if (!symbol.is_gap)
        words_.push_back(symbol.value);
      else
        realise(edge.children[symbol.value],
                Derivation(*derivations_.get(edge.children[symbol.value], derivation.ranks[symbol.value])));
    }
    const auto inner = chart_.options().links(option);
    if (inner.empty() && rescoring_.empty()) return;
    chart_.positions(edge, chart_[id].span, positions_);
    for (const auto link : inner) links_.push_back({positions_[link.source], places[link.target]});
    if (rescoring_.empty()) return;
    ++n_rules_;
    each_word(option, [&](std::size_t symbol, std::uint16_t word) {
      const auto link = std::ranges::find(inner, symbol, &Link::source);  // the first one in target order
      const bool is_linked = link != inner.end();
      visits_.push_back({is_linked ? places[link->target] : words_.size(), is_linked, word, n_rules_});
    });
  }

  // Call use(symbol, word) for the source words of a rule outside its gaps, whose symbols are at positions_.
  template <class Use>
  void each_word(const RuleOption& option, const Use& use) const {
    for (std::size_t k = 0; k + 1 < positions_.size(); ++k)
      if (!chart_.options().source_is_gap(option, k))
        for (auto word = positions_[k]; word < positions_[k + 1]; ++word) use(k, word);
  }

  void write(const Derivation& derivation) {
    out_.scores.push_back(derivation.score);
    out_.words.insert(out_.words.end(), words_.begin(), words_.end());
    out_.word_offsets.push_back(static_cast<std::int64_t>(out_.words.size()));
    std::ranges::sort(links_);
    out_.links.insert(out_.links.end(), links_.begin(), links_.end());
    out_.link_offsets.push_back(static_cast<std::int64_t>(out_.links.size()));

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
    first_step_ = static_cast<std::int32_t>(out_.step_begin.size());
    for (auto it = glued.rbegin(); it != glued.rend(); ++it) {
      const auto edge = derivations_.edge(it->id, it->derivation);
      const auto step = write_step(it->id, edge, -1);
      if (edge.children[1] != kNone) write_subtree(edge.children[1], it->derivation.ranks[1], step);
    }
    const auto row = add_row();
    chart_.add_values(derivations_.edge(chart_.root(), derivation), chart_[chart_.root()].span, out_.features.data() + row);
    out_.step_offsets.push_back(static_cast<std::int64_t>(out_.step_begin.size()));
  }

  void write_subtree(std::uint32_t id, std::uint32_t rank, std::int32_t parent) {
    const Derivation derivation = *derivations_.get(id, rank);
    const auto edge = derivations_.edge(id, derivation);
    const auto step = write_step(id, edge, parent);
    for (std::size_t g = 0; g < kMaxGaps && edge.children[g] != kNone; ++g)
      write_subtree(edge.children[g], derivation.ranks[g], step);
  }

  std::int32_t write_step(std::uint32_t id, const ChartEdge& edge, std::int32_t parent) {
    const auto& option = chart_.options()[edge.option];
    const auto span = chart_[id].span;
    const auto step = static_cast<std::int32_t>(out_.step_begin.size()) - first_step_;
    out_.step_sentence.push_back(static_cast<std::uint32_t>(sentence_));
    out_.step_begin.push_back(static_cast<std::uint16_t>(span.begin));
    out_.step_end.push_back(static_cast<std::uint16_t>(span.end));
    out_.step_pair.push_back(option.pair);
    out_.step_parent.push_back(parent);
    for (const auto symbol : chart_.options().target(option)) out_.step_target.push_back(word_of(symbol));
    out_.step_target_offsets.push_back(static_cast<std::int64_t>(out_.step_target.size()));
    const auto inner = chart_.options().links(option);
    chart_.positions(edge, span, positions_);
    for (const auto link : inner)
      out_.step_links.push_back({static_cast<std::uint16_t>(positions_[link.source] - span.begin), link.target});
    out_.step_link_offsets.push_back(static_cast<std::int64_t>(out_.step_links.size()));
    const auto row = add_row();
    chart_.add_values(edge, span, out_.features.data() + row);
    each_word(option, [&](std::size_t, std::uint16_t word) {
      rescoring_.add_values(word, out_.features.data() + row + input_.first_rescored());
    });
    return step;
  }

  std::size_t add_row() {
    out_.features.resize(out_.features.size() + input_.n_values());
    return out_.features.size() - input_.n_values();
  }

  const ChartInput& input_;
  ChartSearch& chart_;
  Derivations derivations_;
  Rescoring rescoring_;
  std::size_t sentence_;
  ChartDecoded& out_;
  std::vector<WordId> words_;
  std::vector<Link> links_;
  std::vector<WordVisit> visits_;
  std::size_t n_rules_ = 0;
  std::vector<std::uint16_t> positions_;
  std::int32_t first_step_ = 0;
};

}  // namespace

std::vector<std::uint8_t> best_rules(const ChartInput& input, const ChartSettings& settings, const Progress& progress) {
  RankCache cache;
  std::vector<ChartLm> none;
  return mark_best(input.grammar.table, settings.lookup, progress,
                   [&] { return RuleOptions(input, settings, 0, cache, none, nullptr); });
}

RuleBlocks find_blocks(const ChartInput& input, const ChartSettings& settings, RankCache& cache, const Progress& progress) {
  RuleBlocks blocks;
  blocks.sentences.resize(input.source.offsets.size() - 1);
  const auto order = longest_first(input.source.offsets);
  parallel_chunks(order.size(), 1, settings.lookup.n_threads, progress, [&](std::size_t at, std::size_t, Poll& poll) {
    ChartSearch(input, settings, order[at], cache, poll).find_blocks(blocks.sentences[order[at]]);
  });
  blocks.fill_options();
  return blocks;
}

ChartDecoded decode_chart(const ChartInput& input, const ChartSettings& settings, RankCache& cache,
                          const Progress& progress) {
  const std::size_t n = input.source.offsets.size() - 1;
  std::vector<ChartDecoded> parts(n);
  const auto order = longest_first(input.source.offsets);
  parallel_chunks(n, 1, settings.lookup.n_threads, progress, [&](std::size_t at, std::size_t, Poll& poll) {
    const auto s = order[at];
    ChartSearch chart(input, settings, s, cache, poll);
    const bool complete = chart.run();
    parts[s].counts = {chart.counts()};
    if (!complete) return;
    Writer writer(input, chart, s, parts[s]);
    writer.write_paths(settings.n_best, settings.n_rescored);
    if (settings.graph) writer.write_graph();
  });
  ChartDecoded all;
  using D = ChartDecoded;
  for (auto& part : parts) {
    append_columns<&D::scores, &D::words, &D::links, &D::step_sentence, &D::step_begin, &D::step_end, &D::step_pair,
                   &D::step_parent, &D::step_target, &D::step_links, &D::features, &D::counts>(all, part);
    append_offsets<&D::word_offsets, &D::link_offsets, &D::step_offsets, &D::step_target_offsets, &D::step_link_offsets>(
        all, part);
    all.path_offsets.push_back(static_cast<std::int64_t>(all.scores.size()));
    std::ranges::move(part.graph, std::back_inserter(all.graph));
    all.graph_offsets.push_back(static_cast<std::int64_t>(all.graph.size()));
    part = ChartDecoded{};
  }
  return all;
}

}  // namespace hyperbaton
