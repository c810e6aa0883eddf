// Scorers of steps with their weights, as Python holds them.
#pragma once

#include "decode/features/step.hh"

namespace hyperbaton::bindings {

class BoundSteps : public StepScorer {
 public:
  explicit BoundSteps(float weight_) : weight(weight_) {}
  float weight;
};

}  // namespace hyperbaton::bindings
