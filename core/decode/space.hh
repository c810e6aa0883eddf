// The search space of one sentence: its options by span, what a step costs, and when two hypotheses are the same.
//
// A hypothesis' state is a run of 32-bit words that says everything the future depends on: coverage, the previous phrase,
// and a word or two for each model. Hypotheses with equal states are recombined.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "decode/block_stack.hh"
#include "decode/chart.hh"
#include "decode/distance.hh"
#include "decode/lm_scorer.hh"
#include "decode/options.hh"
#include "decode/scorers.hh"
#include "phrases/coverage.hh"

namespace hyperbaton {

// Limits on the order of a sentence.
struct Zone {
  std::uint32_t sentence;
  std::uint16_t begin, end;
};
struct Wall {
  std::uint32_t sentence;
  std::uint16_t after;  // the word in front of it
};

struct DecodeInput {
  const Options& options;
  std::span<const std::int64_t> source_offsets;
  std::span<const WeightedLm> lms;
  float distortion_weight;
  std::vector<OptionScorer> option_scorers;
  std::vector<JumpScorer> jump_scorers;
  std::vector<WeightedSteps> step_scorers;
  std::span<const Wall> walls;  // by sentence
  std::span<const Zone> zones;  // by sentence
  ForcedView forced;
};

struct Limits {
  int distortion;    // -1: none
  bool constraints;  // walls and zones hold
  Distance distance;
};

// Features of a step, in this order: distance, language models, option scorers (one or one for each class), jump scorers,
// step scorers, and the option's own.
std::size_t n_step_features(const DecodeInput& input);

class Space {
 public:
  Space(const DecodeInput& input, std::size_t sentence, const Limits& limits);

  // Options [first, last) of the sentence, best estimate first.
  struct Span {
    SourceSpan source;
    std::uint32_t first, last;
  };
  // A step of which the source span is known: what all options of the span share.
  struct Move {
    SourceSpan previous;
    SourceSpan next;
    bool first;                          // no previous phrase
    float score;                         // weighted, of what does not depend on the option
    float future;                        // future cost behind the step
    float ahead;                         // the same for distances, where they are counted
    std::vector<std::uint8_t> classes;   // of each option scorer
    std::vector<std::uint32_t> state;    // behind the step; the options' part is filled in by apply
    std::uint32_t first_option;          // of the span
    std::vector<std::uint32_t> lm_rows;  // where the language models keep the results of the span's options
  };

  int n_words() const { return n_words_; }
  std::size_t sentence() const { return sentence_; }
  std::size_t n_options() const { return n_options_; }
  std::size_t first_option() const { return first_option_; }
  std::span<const Span> spans_from(int begin) const {
    const auto i = static_cast<std::size_t>(begin);
    return std::span(spans_).subspan(span_offsets_[i], span_offsets_[i + 1] - span_offsets_[i]);
  }
  std::span<const WordId> target(std::uint32_t option) const { return targets_[option]; }
  float estimate(std::uint32_t option) const { return input_.options.estimate[first_option_ + option]; }

  std::size_t state_size() const { return state_size_; }
  void start(std::span<std::uint32_t> state) const;
  Coverage coverage(const std::uint32_t* state) const { return {state, n_words_}; }
  SourceSpan previous(const std::uint32_t* state) const {
    return {static_cast<int>(state[at_previous_] >> 16), static_cast<int>(state[at_previous_] & 0xffff)};
  }

  // Whether the limits let a phrase at this span follow; the span is uncovered.
  bool allowed(const std::uint32_t* state, int first_gap, SourceSpan next) const;
  // Whether they let a phrase start there.
  bool reachable(const std::uint32_t* state, int begin) const;
  // Future cost of a coverage.
  float future(const std::uint32_t* state) const;
  void prepare(const std::uint32_t* state, float future, const Span& span, Move& move);
  // Weighted score of the option after the prepared move; completes move.state. Returns false if a forced translation
  // does not allow the option. Step scorers are not asked.
  bool apply(const std::uint32_t* state, std::uint32_t option, Move& move, float& score);
  // The same without a language model's look at what is before: cheap, for ordering.
  float guess(const std::uint32_t* state, std::uint32_t option, const Move& move) const;
  // What the end of the sentence adds.
  float finish(const std::uint32_t* state);
  bool complete(const std::uint32_t* state) const;  // the whole forced translation is there

  std::size_t n_steps() const { return input_.step_scorers.size(); }
  bool has_steps() const { return n_steps() > 0; }
  void add_step(StepBatch& batch, std::size_t scorer, const std::uint32_t* before, std::uint32_t option) const;
  // Score the batch with a step scorer: adds weighted scores.
  void ask_steps(const StepBatch& batch, std::size_t scorer, std::span<float> scores, std::span<std::int64_t> states) const;
  void set_step_state(std::uint32_t* state, std::size_t scorer, std::int64_t value) const;

  // Unweighted features of each step of a whole translation, and a last row for the end of the sentence.
  void replay(std::span<const std::uint32_t> path, std::vector<float>& features);
  // A step from a state; `before` is an option that leads there, kNone at the start, `end` the state behind the step where
  // the sentence ends there.
  struct Way {
    const std::uint32_t* state;
    std::uint32_t before, option;
    const std::uint32_t* end;
  };
  // Unweighted features of steps, that of the end of the sentence included: (ways, n_step_features).
  std::vector<float> features_of(std::span<const Way> ways);

 private:
  struct JumpOption {
    std::int32_t first, last;  // source words visited first and last, -1 where nothing is linked
    float inner;               // weighted jumps inside
  };

  void find_spans();
  const Span& span_of(std::uint32_t option) const;
  float expected(const Span& span) const;
  void fill_future();
  void weigh_options();
  void weigh_jumps();
  void lay_out_state();
  std::uint8_t step_class(const OptionScorer& scorer, const Move& move, const Coverage& before, Orientation block) const;
  // Where the first and the last word visited by an option lie, and the jumps between them.
  JumpOption visit(const JumpScorer& scorer, std::uint32_t option) const;
  void add_features(const std::uint32_t* state, std::uint32_t before, std::uint32_t local, const Move& move,
                    float* next) const;
  void add_end_features(const std::uint32_t* state, float* next) const;
  std::size_t step_column() const;  // of the first step scorer
  float row_score(std::size_t scorer, std::uint32_t row, const Move& move) const;
  float jump(const JumpScorer& scorer, std::int32_t from, std::int32_t to) const;

  const DecodeInput& input_;
  const std::size_t sentence_;
  const Limits limits_;
  int n_words_;
  std::size_t first_option_, n_options_;
  std::span<const Wall> walls_;
  std::span<const Zone> zones_;
  std::span<const WordId> forced_;
  bool is_forced_;

  std::vector<Span> spans_;
  std::vector<std::size_t> span_offsets_;
  std::vector<float> future_;                     // of [begin, end), (n + 1)²
  std::vector<std::span<const WordId>> targets_;  // by option
  std::vector<LmScorer> lms_;
  std::vector<std::vector<float>> weighted_;      // by option scorer: (options, classes)
  std::vector<std::vector<std::uint32_t>> rows_;  // by option scorer, for Side::After: the first option with the same row
  std::vector<std::vector<JumpOption>> jumps_;    // by jump scorer: options
  BlockStacks stacks_;
  bool needs_begin_ = false, needs_end_ = false, needs_stack_ = false;

  std::size_t at_previous_, at_stack_, at_lms_, at_rows_, at_jumps_, at_steps_, at_forced_, state_size_;
};

}  // namespace hyperbaton
