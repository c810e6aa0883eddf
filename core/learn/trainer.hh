// The interface of every learner: a function from a problem to weights.
//
// The bindings offer each learner as a Trainer made from its options. `fit` on all rows and `fit_clusters` on many
// small groups of rows call the same Trainer, so a learner is written once.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/large_array.hh"
#include "base/parallel.hh"
#include "base/size.hh"
#include "learn/rows.hh"

namespace hyperbaton {

using Label = std::int32_t;

// Validation rows, over the same features and classes.
struct Validation {
  const Rows& rows;
  std::span<const Label> labels;
};

struct Problem {
  const Rows& rows;
  std::span<const Label> labels;  // one for each row, in 0 … n_classes - 1
  std::size_t n_classes;
  std::span<const double> log_prior;  // (rows, classes), added to the scores; empty: none
  std::uint64_t seed;
  unsigned n_threads;
  Progress progress;             // called with (passes done, largest number of passes)
  const Validation* validation;  // null: none
  // If rows and labels are stored in visit order (visits.hh): the number of each in the data. They are then one shard,
  // without a prior. Empty: the order of the data.
  std::span<const std::uint32_t> order = {};
  Room room = {};  // for arrays that learners keep for each row

  std::size_t label(std::size_t row) const { return to_size(labels[row]); }
  // Report progress; throws Cancelled when asked to stop.
  void report(std::size_t done, std::size_t total) const {
    if (progress && !progress(done, total)) throw Cancelled();
  }
  // The callback of a Poll inside a pass.
  std::function<bool()> still(const std::size_t& done, std::size_t total) const {
    return [this, &done, total] { return !progress || progress(done, total); };
  }
};

// Rows between two calls of the progress callback inside a pass.
inline constexpr std::size_t kReportRows = std::size_t{1} << 16;

struct Fit {
  std::vector<double> weights;                         // (width, classes)
  std::map<std::string, std::vector<double>> history;  // one value for each pass; always has "objective"
};

using Trainer = std::function<Fit(const Problem&)>;

// Train; a single class needs no learning, so learners need not handle it.
inline Fit train(const Trainer& trainer, const Problem& problem) {
  if (problem.n_classes > 1) return trainer(problem);
  return {std::vector<double>(problem.rows.width(), 0.0), {{"objective", {0.0}}}};
}

}  // namespace hyperbaton
