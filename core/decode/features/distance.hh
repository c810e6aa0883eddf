// The distance of each step in source words, −|d|.
#pragma once

#include "decode/feature.hh"
#include "decode/limits.hh"

namespace hyperbaton {

struct WeightedDistance {
  float weight;
  std::size_t n_values() const { return 1; }
};

class DistanceFeature : public FeatureDefaults {
 public:
  using Input = WeightedDistance;
  DistanceFeature(const WeightedDistance& input, const Sentence& sentence, const Limits& limits)
      : weight_(input.weight), n_words_(sentence.n_words()), distance_(limits.distance) {}

  Needs needs(const Limits&) const { return {.end = weight_ != 0 || distance_.future}; }
  void ahead(const Step& step, float& score) const {
    score -= weight_ * static_cast<float>(distance_.ahead(step.after, step.next.end, n_words_));
  }
  void prepare(const Step& step, const std::uint32_t*, std::uint32_t&, float& score) const {
    score -= weight_ * static_cast<float>(distance_.step(step.previous, step.next, step.before));
  }
  void add_values(const Step& step, const GraphStep&, std::uint32_t, float* column) const {
    *column = -static_cast<float>(distance_.step(step.previous, step.next, step.before));
  }

 private:
  float weight_;
  int n_words_;
  Distance distance_;
};

}  // namespace hyperbaton
