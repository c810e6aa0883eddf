// Common parts of the bindings of learners: a learner's file only makes a BoundTrainer from options.
#pragma once

#include "learn/losses.hh"
#include "learn/trainer.hh"
#include "module.hh"

namespace hyperbaton::bindings {

struct BoundTrainer {
  Trainer train;
};

inline ClassMatrix class_matrix(const Array2<double>& matrix) {
  if (matrix.shape(0) != matrix.shape(1)) throw Error("a matrix over classes must be square");
  return {copied(matrix), matrix.shape(0)};
}

}  // namespace hyperbaton::bindings
