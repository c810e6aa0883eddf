// Limited-memory quasi-Newton minimisation of a smooth convex function, with an optional L1 term.
//
// Without L1: L-BFGS (Nocedal 1980) with a line search for the weak Wolfe conditions by bisection. With L1: OWL-QN
// (Andrew and Gao 2007): the direction comes from the pseudo-gradient, and a step never leaves its orthant.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "base/parallel.hh"

namespace hyperbaton {

struct MinimizeOptions {
  std::size_t memory;               // pairs of steps and gradient changes kept
  std::size_t max_passes;           // evaluations of the function at most
  double tolerance;                 // stop when max |pseudo-gradient| is this small a part of its first value
  double l1;                        // factor of Σ|x|
  std::optional<double> goal = {};  // stop when max |pseudo-gradient| is this small, whatever its first value
};

// Returns f(x) and writes ∇f(x).
using Smooth = std::function<double(std::span<const double> x, std::span<double> gradient)>;

struct Minimum {
  std::vector<double> x;
  std::vector<double> objective;  // with the L1 term, after each accepted step
};

// All that the next step depends on, besides the function and the options: minimisation goes on from here with the same
// bits.
struct MinimizeState {
  // A step and the change of the gradient along it; the curvature that they show is an estimate, and half the memory is
  // enough for it.
  struct Pair {
    std::vector<float> step, change;
    double product;  // step · change
  };
  std::vector<double> x, gradient;
  double value;  // without the L1 term
  double goal;   // of max |pseudo-gradient|
  std::size_t n_passes;
  std::vector<double> objective;  // so far
  std::deque<Pair> pairs;
};

// States to keep: after a step, `save` is called where `due` says so. `start`: where to go on.
struct Checkpoints {
  std::function<bool()> due;
  std::function<void(const MinimizeState&)> save;
  std::optional<MinimizeState> start;
};

// `curvature` is a guess of the Hessian's diagonal, right up to a common factor: sparse problems, whose features fire a
// million times or once, need it.
Minimum minimize(const Smooth& function, std::vector<double> x, std::vector<double> curvature,
                 const MinimizeOptions& options, unsigned n_threads, const Progress& progress,
                 Checkpoints checkpoints = {});

}  // namespace hyperbaton
