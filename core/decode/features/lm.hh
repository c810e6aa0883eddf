// A language model inside one sentence's search: states as numbers, and what a word or an option costs after a state looked
// up once. Hypotheses share many states, and options many words: most of what is asked for is known already.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "decode/feature.hh"
#include "decode/interner.hh"
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
  void finish(const std::uint32_t* state, float& score);
  void add_values(const Step&, const GraphStep& way, std::uint32_t memo, float* column) const;
  void add_end_values(const std::uint32_t* state, float* column) const;

 private:
  // As many words of a phrase as a state has depend on what is before, the rest do not. When the state behind one of them
  // is the same as if nothing before the phrase were known, all behind it is known, too.
  struct Phrase {
    std::uint32_t first;  // of the words that depend in inside_
    float rest;           // the weighted score of the others
    std::uint32_t state;  // behind the phrase, where nothing before it matters
  };

  // Weighted.
  Scored score_option(std::uint32_t state, std::uint32_t option);
  Scored score_word(std::uint32_t state, WordId word);
  bool has_bigram(std::uint32_t before, std::uint32_t word);
  std::uint32_t number(const LmState& state);
  // The words of the longest state.
  std::size_t n_context() const { return lm_.model.order() - 1; }

  const WeightedLm& lm_;
  const Sentence& sentence_;
  std::vector<Phrase> phrases_;  // by option
  std::vector<Scored> inside_;   // words of phrases of which nothing before is known
  std::vector<LmState> states_;
  Interner numbers_;               // of states
  ScoreMap words_;                 // by state and word
  U64Map bigrams_;                 // whether the model has n-grams that end in two words
  std::vector<float> finished_;    // by state, NaN where not asked yet
  std::uint32_t nothing_, begin_;  // states
  LmState after_;                  // while a word is scored
};

}  // namespace hyperbaton
