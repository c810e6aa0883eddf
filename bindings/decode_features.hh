// Features of the search with their arrays, as held by Python.
#pragma once

#include "decode/features.hh"
#include "module.hh"

namespace hyperbaton::bindings {

class BoundFeature {
 public:
  virtual ~BoundFeature() = default;
  virtual FeatureInput input() const = 0;
  // Throws if the feature was made for other sentences or options.
  virtual void check(const TranslationOptions& /*options*/, std::span<const std::int64_t> /*source_offsets*/) const {}
};

// A language model with its arrays.
class BoundLm : public BoundFeature {
 public:
  BoundLm(const NgramModel& model, float weight, Words words, Words new_words);
  FeatureInput input() const override { return lm_; }
  const WeightedLm& lm() const { return lm_; }

 private:
  Words words_, new_words_;
  WeightedLm lm_;
};

// A step scorer with its weight.
class BoundSteps : public BoundFeature, public StepScorer {
 public:
  explicit BoundSteps(float weight) : weight_(weight) {}
  FeatureInput input() const override { return WeightedSteps{.scorer = this, .weight = weight_}; }

 private:
  float weight_;
};

}  // namespace hyperbaton::bindings
