// The most probable order of the words of a sentence under a model of jumps that is normalised over what is left.
//
// A path starts at BOS, visits words, none twice, and ends at EOS; its probability is the product of
//
//     P(j | i, visited) = exp s(i, j) / Σ exp s(i, j')          j' over the words not visited, and EOS
//
// Beam search: the paths of one number of visited words compete; of those that visited the same words and stand at the same
// one, the best stays.
#pragma once

#include <span>

#include "base/parallel.hh"

namespace hyperbaton {

struct PreorderOptions {
  std::size_t beam;
  bool complete;  // a path visits every word; else it may end before, and unvisited words are put in by attach_unvisited
  unsigned n_threads;
};

// Scores of a text as jump_logprobs.hh has them, sentence offsets, and for each word of the text the position of the word
// that comes in its place; the log-probability of each path.
void preorder(std::span<const double> scores, std::span<const std::int64_t> offsets, const PreorderOptions& options,
              std::span<std::uint16_t> orders, std::span<double> logprobs, const Progress& progress);

// Make an order of some words one of all n: a word that is not there is put right behind the word before it in the source,
// or in front if it is the first.
void attach_unvisited(std::span<const std::uint16_t> visited, std::span<std::uint16_t> order);

}  // namespace hyperbaton
