// The nine-class models of Green et al. 2010 in the form of GO13 section 4.3: a classifier of the distortion j − i − 1 of
// a jump from the context of the CP (outbound), another from that of the NP (inbound).
#pragma once

#include <array>
#include <span>
#include <vector>

#include "features/jumps.hh"
#include "features/rows.hh"
#include "phrases/distance_classes.hh"

namespace hyperbaton {

// The features of positions: CP 0 … n (outbound) or NP 1 … n + 1 (inbound) of every sentence, in this order. A feature is
// a part of the position, or the fifth of the sentence in which it lies.
enum class Bound : std::uint8_t { Out, In };

// Keys that occur at least min_count times at visited positions, sorted.
std::vector<std::uint64_t> count_position_features(const TaggedText& text, const VisitsView& visits, Bound bound,
                                                   const Counting& options, const Progress& progress);

FeatureRows position_rows(const TaggedText& text, Bound bound, std::span<const std::uint64_t> keys, unsigned n_threads);

// The class of the jump of each such position, -1 if it has none.
std::vector<std::int32_t> position_classes(const TaggedText& text, const VisitsView& visits, Bound bound);

// log P(j | i) of all jumps of all sentences from log p(class) of each position, (n_positions, 9) or empty, in the layout
// of jump_logprobs. With c the class of the jump, J_c the candidates of class c, normalised over the classes that have
// candidates:
//   both        p_out(c | i) · p_in(c | j) / Σ_{j' ∈ J_c} p_in(c | j'), normalised
//   outbound    p_out(c | i) / |J_c|, normalised
//   inbound     p_in(c | j), normalised
void nine_class_logprobs(std::span<const std::int64_t> offsets, std::span<const double> outbound,
                         std::span<const double> inbound, std::span<double> logprobs, unsigned n_threads);

}  // namespace hyperbaton
