// The chart of one sentence: hypotheses for its spans, bottom up, by cube pruning (Chiang 2007).
//
// A hypothesis is a rule and a hypothesis for each of its gaps. Hypotheses of a span with equal states are recombined:
// the future depends only on the state, which contains the context of each language model on both sides and, if a model
// scores jumps, the first and last source word in target order. The states of prefixes of the sentence (the label S of
// glue rules) have no left side.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "base/heap.hh"
#include "hierarchical/chart_lm.hh"
#include "hierarchical/forced.hh"
#include "hierarchical/matcher.hh"
#include "hierarchical/rule_options.hh"

namespace hyperbaton {

// A rule with hypotheses in its gaps, in the order of the source.
struct ChartEdge {
  double score;  // of the resulting hypothesis
  std::uint32_t option;
  std::array<std::uint32_t, kMaxGaps> children;
};

struct ChartHypothesis {
  ChartEdge best;
  std::uint32_t first_arc, last_arc;  // alternative paths to this state
  SourceSpan span;
};

struct ChartCounts {
  std::int64_t hypotheses = 0;  // number of scored hypotheses
  std::int64_t cubes = 0;       // source sides that matched a span
  std::int64_t spans = 0;
};

class ChartSearch {
 public:
  ChartSearch(const ChartInput& input, const ChartSettings& settings, std::size_t sentence, RuleCache& cache, Poll& poll);
  // False if there is no translation, which happens only if one is forced.
  bool run();
  // Instead of a search, add the blocks of the sentence, without their columns.
  void find_blocks(SentenceBlocks& blocks);

  // The hypothesis of the whole sentence.
  std::uint32_t root() const { return static_cast<std::uint32_t>(hypotheses_.size() - 1); }
  const ChartHypothesis& operator[](std::uint32_t id) const { return hypotheses_[id]; }
  std::span<const ChartEdge> arcs(const ChartHypothesis& h) const {
    return std::span(arcs_).subspan(h.first_arc, h.last_arc - h.first_arc);
  }
  std::size_t size() const { return hypotheses_.size(); }
  const RuleOptions& options() const { return options_; }
  const ChartCounts& counts() const { return counts_; }
  int n_words() const { return n_words_; }
  void poll() { poll_(); }

  // Unweighted values that an edge adds to those of its children, in columns.
  void add_values(const ChartEdge& edge, SourceSpan span, float* columns);
  // The position of each symbol of the source side of an edge, for gaps that of their first word; and the end of the span.
  void positions(const ChartEdge& edge, SourceSpan span, std::vector<std::uint16_t>& positions) const;

 private:
  // Hypotheses of a span, best first: [first, last).
  struct Cell {
    std::uint32_t first = 0, last = 0;
    std::uint32_t size() const { return last - first; }
  };
  // All hypotheses formed by one source side over given gaps.
  struct Cube {
    RuleOptions::Range options;
    std::array<Cell, kMaxGaps> gaps;
    std::uint8_t n_gaps;
  };
  struct Candidate {
    double score;
    std::uint32_t cube;
    std::array<std::uint32_t, 1 + kMaxGaps> ranks;  // of the option, and of the hypotheses in the gaps
  };
  // A candidate that is scored. Its number is also that of its state.
  struct Queued {
    double priority;  // its score
    std::uint32_t candidate;
    bool operator<(const Queued& other) const {
      return priority != other.priority ? priority > other.priority : candidate < other.candidate;
    }
  };
  // A hypothesis of the current span.
  struct Open {
    ChartEdge best;
    std::uint32_t state;  // the number of a candidate
    std::uint32_t arcs;   // the last arc, kNone
  };
  struct OpenArc {
    ChartEdge edge;
    std::uint32_t next;
  };

  // Call fill(span) for all spans that rules may cover, in the order of the search.
  template <class Fill>
  void each_span(const Fill& fill);
  // Call on_options(options, gaps) for everything that can cover a span.
  template <class OnOptions>
  void match(SourceSpan span, const OnOptions& on_options);
  void fill_span(SourceSpan span);
  void fill_glued(int end);
  void finish();
  void add_cube(RuleOptions::Range options, std::span<const Cell> gaps);
  // Turn the cubes into a cell.
  Cell search(SourceSpan span);
  ChartEdge edge_of(const Candidate& candidate) const;
  // Score a rule over hypotheses and fill in its state; false if a forced translation forbids it.
  bool combine(const ChartEdge& edge, SourceSpan span, std::uint32_t* state, double& score, float* values);
  // Add a candidate and its state to those of the span; false if a forced translation forbids it.
  bool score(Candidate candidate, SourceSpan span);
  Queued last_scored() const { return {scored_.back().score, static_cast<std::uint32_t>(scored_.size() - 1)}; }
  void take(std::uint32_t candidate);
  // Score the candidates next to one, as Moses does, not only when they are taken: estimates without the language model
  // across their edges hide good ones. Those that a forced translation forbids lead on to their own neighbours.
  // Takes the place of the first of the queue if `replaces`.
  void push_neighbours(const Candidate& candidate, SourceSpan span, bool replaces);
  Cell keep(SourceSpan span);

  void place(const RuleOption& option, SourceSpan span, std::span<const SourceSpan> gaps,
             std::vector<std::uint16_t>& positions) const;
  std::array<SourceSpan, kMaxGaps> gap_spans(const ChartEdge& edge) const;
  const std::uint32_t* state_of(std::uint32_t id) const { return states_.data() + id * n_state_; }
  bool allows(SourceSpan span) const;
  bool allows(SourceSpan span, const RuleMatch& match) const;
  // Whether the source side of an option covers a span with its words and these gaps, as the index says.
  bool covers(const RuleOption& option, SourceSpan span, const RuleMatch& match) const;
  bool has_constraints() const { return !walls_.empty() || !zones_.empty() || !demands_.empty(); }
  Cell& cell(SourceSpan span) { return cells_[to_size(span.begin)][to_size(span.end - span.begin)]; }
  void check_size() const;

  const ChartInput& input_;
  const ChartSettings& settings_;
  const std::size_t sentence_;
  Poll& poll_;
  const std::span<const WordId> words_;
  const int n_words_;
  std::span<const Wall> walls_;
  std::span<const Zone> zones_;
  std::span<const Demand> demands_;
  std::size_t first_demand_;
  std::optional<Forced> forced_;
  std::vector<ChartLm> lms_;
  RuleOptions options_;
  Matcher matcher_;
  ChartFeatureSet features_;
  std::optional<RuleParts> parts_;
  std::size_t at_forced_, n_state_;
  bool keep_arcs_;

  std::vector<std::vector<Cell>> cells_;  // by first word and length
  std::vector<Cell> glued_;               // by the number of words
  std::vector<ChartHypothesis> hypotheses_;
  std::vector<std::uint32_t> states_;
  std::vector<ChartEdge> arcs_;
  ChartCounts counts_;

  // For the current span.
  std::vector<Cube> cubes_;
  std::vector<Candidate> scored_, passed_;
  std::vector<std::uint32_t> scored_states_;
  Heap<Queued, std::less<>> queue_;
  std::vector<Open> open_;
  std::vector<OpenArc> open_arcs_;
  std::vector<std::uint32_t> slots_;  // numbers of open hypotheses by the hash of their states, plus one
  U64Map seen_;
  std::vector<std::uint16_t> positions_;
};

}  // namespace hyperbaton
