// An operation sequence model in the search: what an option costs after a hypothesis, and the state behind it.
//
// The n-gram model sees operations (operations/): moves through the source sentence, and what generates each word. The
// moves to an option's first word are few kinds, the way in. What follows is the option's script; it is one and the same
// for an option that takes its words in order, and depends on the gaps beside the phrase for others. What a way in or a
// script costs is looked up by the history before it; where a model remembers nothing of the history any more, the rest of
// a script costs the same after all of them.
//
// With two models, of words and of classes of words, the probability of an operation o is
//
//     λ p(o | operations) + (1 − λ) p(class of o | classes of operations) p(o | class of o).
#pragma once

#include <array>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/hash.hh"
#include "corpus/text.hh"
#include "decode/block_scorer.hh"
#include "decode/interner.hh"
#include "decode/u64_map.hh"
#include "lm/ngram_model.hh"
#include "operations/plan.hh"
#include "operations/walk.hh"
#include "phrases/coverage.hh"

namespace hyperbaton {

inline constexpr std::size_t kOperationValues = 5;
inline constexpr std::size_t kMaxOperationModels = 2;

// An n-gram model over operations, and sentences and options in the units that its operations speak of.
struct OperationUnits {
  NgramModel model;
  const Vocabulary* names;  // of the model's operations, by their numbers
  SpelledText source;
  SpelledText targets;  // one line for each option
};

struct OperationInput {
  std::vector<OperationUnits> units;     // one, or words and then classes
  BlockOptions options;                  // whose targets are not looked at
  std::span<const std::uint8_t> itself;  // by option: an unknown word that stands for itself
  float share;                           // λ
  std::span<const float> log_of_class;   // log p(o | class of o) of each operation of the first model
  std::size_t n_values;                  // 1, or 5 with the supporting features

  // Throws Error unless all parts fit each other.
  void check() const;
};

// What a step adds: the natural log of the probability of its operations, and the supporting features in Moses' order.
struct OperationCounts {
  float logprob = 0;
  int gap_width = 0, n_gaps = 0, n_open_gaps = 0, n_deletions = 0;

  std::array<float, kOperationValues> values() const {
    // As in Moses, the first is the decimal log.
    return {logprob / NgramModel::kLn10, static_cast<float>(gap_width), static_cast<float>(n_gaps),
            static_cast<float>(n_open_gaps), static_cast<float>(n_deletions)};
  }
};

// One sentence in its search.
class OperationSentence {
 public:
  // Where the walk stands, and the number of the n-gram models' states. As a hypothesis keeps it.
  struct State {
    std::uint32_t at, history;
  };
  // What all options of a span share.
  struct Prepared {
    int own_gap;          // where the gap that the span lies in begins
    int end;              // one behind the last translated word
    int first_gap;        // the first untranslated word
    int n_left, n_right;  // other gaps
    bool leaves_gap;      // the walk stands at an untranslated word
    bool next_covered;    // the word behind the span is translated
  };

  OperationSentence(const OperationInput& input, std::size_t sentence);

  State start() const { return {0, begin_}; }
  Prepared prepare(const Coverage& before, State state, SourceSpan next) const;
  // Counts of an option at a prepared span, and the state behind it.
  std::pair<OperationCounts, State> score(const Coverage& before, State state, std::uint32_t option,
                                          const Prepared& prepared);
  // The same without anything remembered.
  std::pair<OperationCounts, State> score(const Coverage& before, State state, std::uint32_t option);
  // Counts of an option of which nothing before is known.
  OperationCounts estimate(std::uint32_t option) const;

 private:
  using Ids = std::array<std::uint32_t, kMaxOperationModels>;  // an operation's number in each model
  using Histories = std::array<LmState, kMaxOperationModels>;
  struct Word {
    Ids operation;
    std::int16_t position;  // inside the phrase, -1 where no source word is generated
    bool is_wide;           // counts for the gap width
  };
  struct Option {
    std::uint32_t first_word, last_word;  // of words_
    std::int16_t first_position, at;      // inside the phrase: the word generated first, and where the walk ends
    bool in_order;                        // takes its words one after the other
    bool deletes_first;                   // deletes a target word before it moves to the first source word
    std::int32_t n_generated, n_wide, n_deletions, position_sum;  // of wide words
    std::int32_t width_inside;                                    // where nothing left of the phrase is untranslated
    float alone;  // log-probability where nothing before is known, of options that take their words in order
  };

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
  // The operations of an option, behind the way in unless that comes after a deletion. Open gaps beyond those outside the
  // phrase.
  struct Script {
    std::uint32_t first = 0, n_operations = 0;  // of operations_; none where it is not made yet
    std::int32_t n_gaps = 0, n_open_gaps = 0;
    std::uint32_t history = 0;  // behind it, unless the one before still matters
  };
  struct Scored {
    float logprob;
    std::uint32_t history;
  };
  // What scripts and ways in cost after histories, by open addressing.
  class Results {
   public:
    // The result, or a place for it: (result, whether it was there).
    std::pair<Scored*, bool> find_or_add(std::uint32_t history, std::uint32_t of) {
      if (2 * (size_ + 1) > slots_.size()) grow();
      const auto key = (static_cast<std::uint64_t>(history) << 32 | of) + 1;  // 0 is a free place
      Slot& slot = slots_[probe(key)];
      const bool found = slot.key == key;
      if (!found) {
        slot.key = key;
        ++size_;
      }
      return {&slot.scored, found};
    }

   private:
    struct Slot {
      std::uint64_t key = 0;
      Scored scored{0, 0};
    };
    std::size_t probe(std::uint64_t key) const {
      std::size_t at = mix(key) & (slots_.size() - 1);
      while (slots_[at].key != 0 && slots_[at].key != key) at = (at + 1) & (slots_.size() - 1);
      return at;
    }
    void grow() {
      std::vector<Slot> old(slots_.empty() ? 1024 : 2 * slots_.size());
      old.swap(slots_);
      for (const auto& slot : old)
        if (slot.key != 0) slots_[probe(slot.key)] = slot;
    }

    std::vector<Slot> slots_;
    std::size_t size_ = 0;
  };

  void add_option(const PhrasePlan& plan, std::uint32_t option, std::string& name);
  Ids find(const PhrasePlan& plan, const PlannedWord& word, std::uint32_t option, std::string& name);
  WayIn way_in(int at, int word, const Prepared& prepared) const;
  // The number of an option's script.
  std::uint32_t script_number(std::uint32_t option, const WayIn& way, const Prepared& prepared, int begin);
  void write_script(Script& script, const Coverage& before, State state, std::uint32_t option, const WayIn& way,
                    const Prepared& prepared);
  // What operations cost after a history; `rests` are what they cost from each on if nothing before is known.
  Scored score_operations(std::span<const Ids> operations, const float* rests, std::uint32_t behind, std::uint32_t history);
  Scored score_way(const WayIn& way, std::uint32_t history);
  // How many gaps are open at each word of a phrase that is translated in order.
  static int n_outside(const Prepared& prepared, int begin) {
    return prepared.n_left + prepared.n_right + (prepared.own_gap < begin ? 1 : 0);
  }
  // Whether the models remember nothing of what came before the last n operations.
  bool independent(const Histories& histories, std::size_t n) const {
    return histories[0].length <= n && (input_.units.size() == 1 || histories[1].length <= n);
  }
  float logprob(Histories& histories, const Ids& operation) const;
  std::uint32_t number(std::span<const LmState> histories);
  std::uint32_t number(const Histories& histories) { return number(std::span(histories).first(n_models())); }
  std::size_t n_models() const { return input_.units.size(); }
  std::span<const LmState> models_after(std::uint32_t history) const {
    return std::span(histories_).subspan(history * n_models(), n_models());
  }
  // Score an option that takes its words in order, with nothing known before; its script is written too if it has one only.
  void score_alone(std::uint32_t option);
  // Walk through an option whose source phrase begins at `begin`; calls take(operation) for each.
  template <class Take>
  OperationCounts walk(SourceWalk& walk, std::uint32_t option, int begin, const Take& take) const;
  SourceSpan source(std::uint32_t option) const {
    const int begin = input_.options.begin[first_ + option];
    return {begin, begin + input_.options.length[first_ + option]};
  }

  const OperationInput& input_;
  std::size_t sentence_, first_;
  int n_words_;
  std::vector<Option> options_;
  std::vector<Word> words_;
  std::vector<Ids> moves_;  // insert a gap, jump forward, jump back to gap 1, 2, …
  U64Map known_;            // operations of at most one target and one source word, by their numbers
  std::vector<Ids> known_ids_;

  Interner numbers_;
  std::vector<LmState> histories_;  // of each model
  std::vector<Script> scripts_;     // one for each option, then those that depend on more
  U64Map script_numbers_;           // of the latter, by option and what they depend on
  std::vector<Ids> operations_;     // of scripts
  std::vector<float> rests_;        // log-probability of each operation of a script and those behind it
  Results results_, ways_;
  std::uint32_t begin_;
};

}  // namespace hyperbaton
