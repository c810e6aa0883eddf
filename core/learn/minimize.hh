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

// The number of steps over which the gain is measured: single steps vary too much.
inline constexpr std::size_t kGainSteps = 5;

struct MinimizeOptions {
  std::size_t memory;               // number of stored pairs of steps and gradient changes
  std::size_t max_passes;           // largest number of function evaluations
  double tolerance;                 // stop when max |pseudo-gradient| falls below this fraction of its initial value
  double l1;                        // factor of Σ|x|
  double gain;                      // stop when f falls by less than this fraction of itself per step, over kGainSteps
  std::optional<double> goal = {};  // stop when max |pseudo-gradient| falls below this value
};

// Returns f(x) and writes ∇f(x).
using Smooth = std::function<double(std::span<const double> x, std::span<double> gradient)>;

struct Minimum {
  std::vector<double> x;
  std::vector<double> objective;  // with the L1 term, after each accepted step
};

// Everything that the next step depends on besides the function and the options: minimisation resumes from here with
// identical bits.
struct MinimizeState {
  // A step and the gradient change along it, in single precision: their curvature is only an estimate, and this halves
  // the memory.
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

// Checkpoints: after a step, `save` is called if `due` returns true. `start`: the state to resume from.
struct Checkpoints {
  std::function<bool()> due;
  std::function<void(const MinimizeState&)> save;
  std::optional<MinimizeState> start;
};

// `curvature` estimates the Hessian's diagonal up to a common factor: sparse problems need it, since features fire from
// once to a million times.
Minimum minimize(const Smooth& function, std::vector<double> x, std::vector<double> curvature,
                 const MinimizeOptions& options, unsigned n_threads, const Progress& progress,
                 Checkpoints checkpoints = {});

}  // namespace hyperbaton
