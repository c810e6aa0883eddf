// The chart of one sentence: hypotheses for its spans, bottom up, by cube pruning (Chiang 2007).
//
// A hypothesis is a rule and a hypothesis for each of its gaps. Hypotheses of a span with equal states are recombined:
// the future depends only on the state, which contains the context of each language model on both sides and, if a model
// scores jumps, the first and last source word in target order. The states of prefixes of the sentence (the label S of
// glue rules) have no left side.
#pragma once

#include <bit>
#include <optional>
#include <span>
#include <utility>
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
  // A source side over given gaps, in the sentence.
  struct Placed {
    std::array<SourceSpan, kMaxGaps> gap_spans;
    int n_words;                                // without gaps
    std::uint32_t first_position, n_positions;  // of its symbols, in positions_
  };
  // All hypotheses formed by one source side over given gaps.
  struct Cube {
    RuleOptions::Range options;
    std::array<Cell, kMaxGaps> gaps;
    std::uint8_t n_gaps;
    Placed placed;  // if there are features besides the language models
  };
  // A cube, and the ranks of the option and of the hypotheses in the gaps.
  struct Point {
    static constexpr unsigned kRankBits = 14, kCubeBits = 22;
    static constexpr std::uint64_t kMaxRank = (1U << kRankBits) - 1, kMaxCubes = 1U << kCubeBits;

    std::uint64_t bits;
    std::uint64_t cube() const { return bits >> (1 + kMaxGaps) * kRankBits; }
    std::uint32_t rank(std::size_t d) const { return static_cast<std::uint32_t>(bits >> d * kRankBits & kMaxRank); }
    // Whether only a change in this dimension leads here from the corner.
    bool is_on_edge(std::size_t d) const {
      return (bits & ((std::uint64_t{1} << (1 + kMaxGaps) * kRankBits) - 1) & ~(kMaxRank << d * kRankBits)) == 0;
    }
    Point next(std::size_t d) const { return {bits + (std::uint64_t{1} << d * kRankBits)}; }
  };
  // A point that is scored. Its number is also that of its state.
  struct Candidate {
    double score;
    Point point;
  };
  // A candidate in the queue, as one number: the higher the score, as a float, the lower the number; equal scores are in
  // the order of their candidates.
  using Queued = std::uint64_t;
  // A hypothesis of the current span.
  struct Open {
    std::uint32_t best, state;  // numbers of candidates
    std::uint32_t arcs;         // the last arc, kNone
  };
  struct OpenArc {
    std::uint32_t candidate, next;
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
  void add_cube(RuleOptions::Range options, std::span<const Cell> gaps, SourceSpan span);
  // Turn the cubes into a cell.
  Cell search(SourceSpan span);
  ChartEdge edge_of(const Candidate& candidate) const {
    const auto point = candidate.point;
    const auto& cube = cubes_[point.cube()];
    ChartEdge edge{.score = candidate.score, .option = cube.options.first + point.rank(0), .children = {kNone, kNone}};
    for (std::size_t g = 0; g < cube.n_gaps; ++g) edge.children[g] = cube.gaps[g].first + point.rank(1 + g);
    return edge;
  }
  // Score a rule over hypotheses and fill in its state; false if a forced translation forbids it.
  bool combine(const ChartEdge& edge, const Placed& placed, std::uint32_t* state, double& score, float* values);
  // Fill in where the result occurs in the forced translation; false if it does not.
  bool follow_forced(const ChartEdge& edge, std::uint32_t* state);
  // Add a point and its state to the candidates; false if a forced translation forbids it.
  bool score(Point point);
  Queued last_scored() const {
    const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(scored_.back().score));
    return static_cast<Queued>(bits >> 31 ? bits : ~bits & 0x7fffffffU) << 32 | (scored_.size() - 1);
  }
  void take(std::uint32_t candidate);
  // Score the candidates next to one, as Moses does, not only when they are taken: estimates without the language model
  // across their edges hide good ones. Those that a forced translation forbids lead on to their own neighbours.
  // One takes the place of the first of the queue if `replaces`.
  void push_neighbours(Point point, bool replaces);
  Cell keep(SourceSpan span);

  void place(const RuleOption& option, SourceSpan span, std::span<const SourceSpan> gaps,
             std::vector<std::uint16_t>& positions) const;
  Placed place(const RuleOption& option, SourceSpan span, const std::array<SourceSpan, kMaxGaps>& gaps);
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
  std::vector<Candidate> scored_;
  std::vector<std::uint32_t> scored_states_;
  std::vector<Point> passed_;
  Heap<Queued, std::less<>> queue_;
  std::vector<Open> open_;
  std::vector<OpenArc> open_arcs_;
  std::vector<std::uint32_t> slots_;  // numbers of open hypotheses by the hash of their states, plus one
  U64Map seen_;
  std::vector<std::uint16_t> positions_;
  std::vector<std::pair<double, std::uint32_t>> order_;  // negative scores and numbers of open hypotheses
};

}  // namespace hyperbaton
