// A language model inside one sentence's search. States are numbers, and the score of a word or an option after a state
// is cached: hypotheses share many states, and options many words, so most queries are already known.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/interner.hh"
#include "decode/feature.hh"
#include "decode/score_map.hh"

namespace hyperbaton {

class LmFeature : public FeatureDefaults {
 public:
  using Input = WeightedLm;
  LmFeature(const WeightedLm& lm, const Sentence& sentence, const Limits&);

  std::size_t n_state() const { return 1; }
  void start(std::uint32_t* state) const { *state = begin_; }
  void extend(const Step&, const std::uint32_t* state, std::uint32_t, std::uint32_t option, std::uint32_t* after,
              float& score) {
    const Scored scored = score_option(*state, option);
    score += scored.score;
    *after = scored.state;
  }
  // A state of which only the last word is known, and the weighted difference that a state makes to an option's first
  // word.
  std::uint32_t shortened(std::uint32_t state);
  void correct(std::uint32_t state, std::uint32_t option, float& score) {
    const auto& phrase = phrases_[option];
    if (phrase.first == phrase.last || states_[state].length == 0) return;
    const Word& word = inside_[phrase.first];
    score += score_word(state, word.word).score - word.inside.score;
  }
  void finish(const std::uint32_t* state, float& score);
  void add_values(const Step&, const GraphStep& way, std::uint32_t memo, float* column) const;
  void add_end_values(const std::uint32_t* state, float* column) const;

 private:
  // Only as many leading words of a phrase as a state has depend on the history. Once the state after one of them equals
  // the state without history, everything after it is known, too.
  struct Phrase {
    std::uint32_t first, last;  // words of inside_ that depend on the history
    float rest;                 // the weighted score of the others
    std::uint32_t state;        // after the phrase, if nothing before it matters
  };

  // A word of a phrase, scored without history.
  struct Word {
    WordId word;
    Scored inside;
  };

  // Weighted.
  Scored score_option(std::uint32_t state, std::uint32_t option);
  Scored score_word(std::uint32_t state, WordId word) {
    const auto [known, found] = words_.find_or_add(state, word);
    return found ? *known : *words_.find_or_add(state, word).first = new_score(state, word);
  }
  Scored new_score(std::uint32_t state, WordId word);
  bool has_bigram(std::uint32_t before, std::uint32_t word);
  std::uint32_t number(const LmState& state);
  // The number of words of the longest state.
  std::size_t n_context() const { return lm_.model.order() - 1; }

  const WeightedLm& lm_;
  const Sentence& sentence_;
  std::vector<Phrase> phrases_;  // by option
  std::vector<Word> inside_;
  std::vector<LmState> states_;
  Interner numbers_;               // of states
  ScoreMap words_;                 // by state and word
  U64Map bigrams_;                 // whether the model has n-grams that end in two words
  std::vector<float> finished_;    // by state, NaN if not computed yet
  std::uint32_t nothing_, begin_;  // states
  LmState after_;                  // while a word is scored
};

}  // namespace hyperbaton
