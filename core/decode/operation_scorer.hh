// An operation sequence model in the search: the score of an option after a hypothesis, and the state after it.
//
// The n-gram model sees operations (operations/): moves through the source sentence, and the generation of each word. The
// moves to an option's first word, the way in, are of a few kinds. They are followed by the option's script, which is
// constant for an option that takes its words in order and depends on the gaps beside the phrase for others. Scores of
// ways in and scripts are cached by history; once a model has forgotten the history, the rest of a script has the same
// score after all histories. Usually that is so from the first operation on, because the model has no n-gram of this
// operation and the previous one: then the history only adds its back-off weights, and nothing is looked up.
//
// With two models, of words and of classes of words, the probability of an operation o is
//
//     λ p(o | operations) + (1 − λ) p(class of o | classes of operations) p(o | class of o).
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "base/hash.hh"
#include "base/interner.hh"
#include "base/u64_map.hh"
#include "decode/phrase_operations.hh"
#include "decode/score_map.hh"
#include "phrases/coverage.hh"

namespace hyperbaton {

// One sentence in its search.
class OperationSentence {
 public:
  // The position of the walk and the number of the n-gram models' states, as kept by a hypothesis.
  struct State {
    std::uint32_t at, history;
  };
  // Data shared by all options of a span.
  struct Prepared {
    int own_gap;          // start of the gap that contains the span
    int end;              // one past the last translated word
    int first_gap;        // the first untranslated word
    int n_left, n_right;  // other gaps
    bool leaves_gap;      // the walk is at an untranslated word
    bool next_covered;    // the word after the span is translated

    std::array<int, 6> key() const { return {own_gap, end, first_gap, n_left, n_right, leaves_gap | next_covered << 1}; }
  };

  OperationSentence(const OperationInput& input, std::size_t sentence);

  State start() const { return {0, begin_}; }
  Prepared prepare(const Coverage& before, State state, SourceSpan next) const;
  // Counts of an option at a prepared span, and the state after it.
  std::pair<OperationCounts, State> score(const Coverage& before, State state, std::uint32_t option,
                                          const Prepared& prepared);
  // Counts of an option at a span that is not prepared.
  std::pair<OperationCounts, State> score(const Coverage& before, State state, std::uint32_t option);
  // Counts of an option without history.
  const OperationCounts& estimate(std::uint32_t option) const { return phrases_[option]->alone; }

 private:
  using Ids = OperationIds;
  using Histories = OperationHistories;

  // The moves to an option's first word: leave a gap, jump forward, jump back to the n-th gap (0: not), leave a gap.
  struct WayIn {
    bool leaves_gap, forward;
    std::uint32_t back;
    bool leaves_gap_inside;

    bool any_gap() const { return leaves_gap || leaves_gap_inside; }
    std::uint32_t n_operations() const { return leaves_gap + forward + (back > 0) + leaves_gap_inside; }
    std::uint32_t kind() const {
      return static_cast<std::uint32_t>(leaves_gap) | static_cast<std::uint32_t>(forward) << 1 |
             static_cast<std::uint32_t>(leaves_gap_inside) << 2 | back << 3;
    }
  };
  // The operations of an option after the way in, or with it if that follows a deletion. Gaps are counted beyond those
  // outside the phrase.
  struct Script {
    std::uint32_t n_operations = 0;   // 0 if not made yet
    std::uint32_t place = kOfPhrase;  // index of its first operation in operations_, or kOfPhrase
    std::uint32_t first = 0;          // its first operation in the first model
    float first_log10 = 0;            // its log-probability without history
    float behind_first = 0;           // log-probability of the following ones, without history
    std::int32_t n_gaps = 0, n_open_gaps = 0;
    std::uint32_t history = 0;  // after it, unless the previous history still matters
  };
  static constexpr std::uint32_t kOfPhrase = 0xffffffffU;
  void find_phrases();
  WayIn way_in(int at, int word, const Prepared& prepared) const;
  // The number of an option's script.
  std::uint32_t script_number(std::uint32_t option, const WayIn& way, const Prepared& prepared, int begin);
  void write_script(Script& script, const Coverage& before, State state, std::uint32_t option, const WayIn& way,
                    const Prepared& prepared);
  void complete_script(Script& script, std::uint32_t option, float first_log10, const Histories& behind);
  // The score of a script after a history.
  Scored score_script(const Script& script, std::uint32_t number, std::uint32_t option, std::uint32_t history);
  // Whether the first model has an n-gram of the operation and the previous one.
  bool has_bigram(std::uint32_t before, std::uint32_t operation);
  // The score of operations after a history; `rests` are the scores from each operation on without history.
  Scored score_operations(std::span<const Ids> operations, const float* rests, std::uint32_t behind, std::uint32_t history);
  Scored score_way(const WayIn& way, std::uint32_t history);
  const Ids* operations_of(const Script& script, std::uint32_t option) const {
    return script.place == kOfPhrase ? phrases_[option]->operations.data() : &operations_[script.place];
  }
  const float* rests_of(const Script& script, std::uint32_t option) const {
    return script.place == kOfPhrase ? phrases_[option]->rests.data() : &rests_[script.place];
  }
  // The number of open gaps at each word of a phrase that is translated in order.
  static int n_outside(const Prepared& prepared, int begin) {
    return prepared.n_left + prepared.n_right + (prepared.own_gap < begin ? 1 : 0);
  }
  // Whether the models' states depend only on the last n operations.
  bool independent(const Histories& histories, std::size_t n) const {
    return histories[0].length <= n && (input_.units.size() == 1 || histories[1].length <= n);
  }
  std::uint32_t number(std::span<const LmState> histories);
  std::uint32_t number(const Histories& histories) { return number(std::span(histories).first(n_models())); }
  std::size_t n_models() const { return input_.units.size(); }
  std::span<const LmState> models_after(std::uint32_t history) const {
    return std::span(histories_).subspan(history * n_models(), n_models());
  }
  SourceSpan source(std::uint32_t option) const { return input_.source(first_ + option); }

  const OperationInput& input_;
  std::size_t sentence_, first_;
  int n_words_;
  std::vector<const PhraseOperations*> phrases_;  // by option
  std::vector<PhraseOperations::Shape> shapes_;   // by option, stored contiguously
  std::deque<PhraseOperations> own_;              // those that are not in the cache

  Interner numbers_;
  std::vector<LmState> histories_;  // of each model
  std::vector<Script> scripts_;     // one for each option, then the context-dependent ones
  U64Map script_numbers_;           // numbers of the latter, by option and context
  std::vector<Ids> operations_;     // of context-dependent scripts
  std::vector<float> rests_;        // log-probability of each operation and those after it in its script
  U64Map bigrams_;                  // whether the first model has them
  ScoreMap results_, ways_;         // scores of scripts and ways in after histories
  std::uint32_t begin_;
};

}  // namespace hyperbaton
