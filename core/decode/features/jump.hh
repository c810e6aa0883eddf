// Per jump: what a model says of going from the source word that was translated last to the next one.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "decode/feature.hh"

namespace hyperbaton {

// A matrix of n + 1 rows and columns for a sentence of n words. Row 0 is the start of the sentence, row i + 1 word i as the
// last one translated; column j is word j as the next one, column n the end of the sentence.
struct JumpScorer {
  std::span<const float> matrices;        // of all sentences
  std::span<const std::int64_t> offsets;  // where they begin
  float weight;
  bool inside;  // charge the jumps inside a phrase pair too, not only those between two

  std::size_t n_values() const { return 1; }
  // Throws where the matrices are not those of these sentences.
  void check(std::span<const std::int64_t> source_offsets) const;
};

class JumpFeature : public FeatureDefaults {
 public:
  using Input = JumpScorer;
  JumpFeature(const JumpScorer& scorer, const Sentence& sentence, const Limits&);

  // The row of the word that was translated last.
  std::size_t n_state() const { return 1; }
  void guess(const Step&, const std::uint32_t* state, std::uint32_t, std::uint32_t option, float& score) const {
    const auto& visits = visits_[option];
    if (visits.first >= 0) score += weight_ * jump(*state, visits.first) + visits.weighted_inner;
  }
  void extend(const Step&, const std::uint32_t* state, std::uint32_t, std::uint32_t option, std::uint32_t* after,
              float&) const {
    const auto last = visits_[option].last;
    *after = last < 0 ? *state : row_of(last);
  }
  void finish(const std::uint32_t* state, float& score) const { score += weight_ * jump(*state, n_words_); }
  void add_values(const Step&, const GraphStep& way, std::uint32_t, float* column) const {
    const auto& visits = visits_[way.option];
    if (visits.first >= 0) *column += visits.inner + jump(*way.state, visits.first);
  }
  void add_end_values(const std::uint32_t* state, float* column) const { *column += jump(*state, n_words_); }

 private:
  // Source words that an option visits first and last, -1 where nothing is linked, and the jumps between them.
  struct Visits {
    std::int32_t first, last;
    float inner, weighted_inner;
  };
  Visits visit(std::span<const Link> links, SourceSpan source, bool inside) const;
  static std::uint32_t row_of(std::int32_t word) { return static_cast<std::uint32_t>(word) + 1; }
  float jump(std::uint32_t row, std::int32_t to) const {
    return matrix_[row * (static_cast<std::size_t>(n_words_) + 1) + static_cast<std::size_t>(to)];
  }

  float weight_;
  int n_words_;
  const float* matrix_;
  std::vector<Visits> visits_;  // by option
};

}  // namespace hyperbaton
