// Multinomial logistic regression by L-BFGS, AL14 eq. 6 and 7, with an optional L1 term by OWL-QN.
#pragma once

#include "learn/minimize.hh"
#include "learn/trainer.hh"

namespace hyperbaton {

struct LbfgsOptions {
  double variance;  // σ² of the Gaussian prior; infinite: no prior
  MinimizeOptions minimize;
};

Trainer lbfgs_trainer(const LbfgsOptions& options);

}  // namespace hyperbaton
