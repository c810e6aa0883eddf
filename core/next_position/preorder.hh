// The most probable order of the words of a sentence under a jump model that is normalised over the remaining words.
//
// A path starts at BOS, visits words, each at most once, and ends at EOS; its probability is the product of
//
//     P(j | i, visited) = exp s(i, j) / Σ exp s(i, j')          j' over the words not visited, and EOS
//
// Beam search: paths with the same number of visited words compete; paths with the same visited words and the same last
// word are recombined.
#pragma once

#include <span>

#include "base/parallel.hh"

namespace hyperbaton {

struct PreorderOptions {
  std::size_t beam;
  bool
      complete;  // a path must visit every word; otherwise it may end earlier, and attach_unvisited inserts the other words
  unsigned n_threads;
};

// Takes the scores of a text in the layout of jump_logprobs.hh and its sentence offsets. Returns, for each place of the
// text, the position of the word that goes there, and the log-probability of each path.
void preorder(std::span<const double> scores, std::span<const std::int64_t> offsets, const PreorderOptions& options,
              std::span<std::uint16_t> orders, std::span<double> logprobs, const Progress& progress);

// Extend an order of some words to all n: a missing word is inserted right after the word before it in the source, or at
// the front if it is the first.
void attach_unvisited(std::span<const std::uint16_t> visited, std::span<std::uint16_t> order);

}  // namespace hyperbaton
