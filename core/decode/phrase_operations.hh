// The operations of a phrase pair, independent of where in a sentence it is used: those that generate its words, their
// score without history, and the model's state after them.
//
// They are the same in every sentence, so phrase pairs of a table are cached from sentence to sentence.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <mutex>
#include <shared_mutex>
#include <span>
#include <string>
#include <vector>

#include "base/size.hh"
#include "base/u64_map.hh"
#include "corpus/text.hh"
#include "decode/block_scorer.hh"
#include "lm/ngram_model.hh"
#include "operations/plan.hh"
#include "operations/walk.hh"
#include "phrases/orientation.hh"

namespace hyperbaton {

inline constexpr std::size_t kOperationValues = 5;
inline constexpr std::size_t kMaxOperationModels = 2;

using OperationIds = std::array<std::uint32_t, kMaxOperationModels>;  // an operation's number in each model
using OperationHistories = std::array<LmState, kMaxOperationModels>;

// The values of a step: the natural log of the probability of its operations, and the supporting features in Moses'
// order.
struct OperationCounts {
  float logprob = 0;
  int gap_width = 0, n_gaps = 0, n_open_gaps = 0, n_deletions = 0;

  std::array<float, kOperationValues> values() const {
    // As in Moses, the first is the base-10 log.
    return {logprob / NgramModel::kLn10, static_cast<float>(gap_width), static_cast<float>(n_gaps),
            static_cast<float>(n_open_gaps), static_cast<float>(n_deletions)};
  }
};

struct PhraseOperations {
  struct Word {
    OperationIds operation;
    std::int16_t position;  // inside the phrase, -1 if no source word is generated
    bool is_wide;           // counts for the gap width
  };
  // The data of the phrase pair that a step needs.
  struct Shape {
    std::int16_t first_position = -1, at = 0;  // inside the phrase: the word generated first, and where the walk ends
    bool in_order = true;                      // takes its words one after the other
    bool deletes_first = false;                // deletes a target word before it moves to the first source word
    std::int32_t n_generated = 0, n_wide = 0, n_deletions = 0, position_sum = 0;  // the last of wide words
    std::int32_t width_inside = 0;  // if nothing left of the phrase is untranslated

    // After the moves to its first word, the operations are the same wherever the phrase pair is used.
    bool is_fixed() const { return in_order && !deletes_first; }
  };

  Shape shape;
  OperationCounts alone;  // without history
  std::vector<Word> words;
  // For fixed ones: the operations, the log-probability of each with those after it, and the states after them.
  std::vector<OperationIds> operations;
  std::vector<float> rests;
  OperationHistories behind;
  float first_log10 = 0;  // unigram log-probability of the first operation in the first model
};

// The operations of the pairs of a phrase table. A cache is valid for one table and one operation model; it is
// thread-safe.
class PhraseOperationsCache {
 public:
  // The operations of each pair, null if not cached. Their addresses are stable while the cache lives.
  void find(std::span<const std::int64_t> pairs, std::span<const PhraseOperations*> phrases) const;
  // Add those of a pair and return their address; null if the cache is full.
  const PhraseOperations* add(std::int64_t pair, const PhraseOperations& phrase);

 private:
  static constexpr std::size_t kMost = 200'000;
  mutable std::shared_mutex mutex_;
  U64Map numbers_;  // of pairs
  std::deque<PhraseOperations> phrases_;
};

// An n-gram model over operations, with the sentences and options in the model's units (words or classes).
struct OperationUnits {
  NgramModel model;
  const Vocabulary* names;  // of the model's operations, by their numbers
  SpelledText source;
  SpelledText targets;  // one line for each option
};

struct OperationInput {
  std::vector<OperationUnits> units;    // one, or words and then classes
  BlockOptions options;                 // their targets are not used
  std::span<const std::int64_t> pairs;  // by option: its row of the phrase table, or kUnknownPair, kDemandedPair
  float share;                          // λ
  std::span<const float> log_of_class;  // log p(o | class of o) of each operation of the first model
  std::size_t n_values;                 // 1, or 5 with the supporting features
  PhraseOperationsCache* cache;         // null: nothing is kept from sentence to sentence
  std::vector<OperationIds> moves;      // insert a gap, jump forward, jump back to gap 1, 2, …; filled in by complete()

  // Throws Error unless all parts match.
  void complete();

  SourceSpan source(std::size_t option) const {
    const int begin = options.begin[option];
    return {begin, begin + options.length[option]};
  }
  const OperationIds& move(Move move, int gap) const {
    const auto at = static_cast<std::size_t>(move) + to_size(move == Move::JumpBack ? gap - 1 : 0);
    return moves[std::min(at, moves.size() - 1)];
  }
  // log p(operation | histories); advances the histories.
  float logprob(OperationHistories& histories, const OperationIds& operation) const;
  // Walk through a phrase pair whose source phrase begins at `begin`; calls take(operation) for each. Does not compute
  // the probability.
  template <class Take>
  OperationCounts walk(SourceWalk& walk, const PhraseOperations& phrase, int begin, const Take& take) const;
  // The operations of an option of a sentence, as a phrase pair.
  PhraseOperations make(std::size_t sentence, std::size_t option) const;

 private:
  OperationIds find(std::size_t sentence, std::size_t option, const PhrasePlan& plan, const PlannedWord& word,
                    std::string& name) const;
};

template <class Take>
OperationCounts OperationInput::walk(SourceWalk& walk, const PhraseOperations& phrase, int begin, const Take& take) const {
  OperationCounts counts;
  for (const auto& word : phrase.words) {
    if (word.position < 0) {
      take(word.operation);
      continue;
    }
    counts.n_gaps += walk.go(begin + word.position, [&](Move each, int gap) { take(move(each, gap)); });
    take(word.operation);
    if (word.is_wide) counts.gap_width += walk.at() - walk.first_gap();
    walk.generate();
    counts.n_open_gaps += walk.n_open_gaps();
  }
  counts.n_deletions = phrase.shape.n_deletions;
  return counts;
}

}  // namespace hyperbaton
