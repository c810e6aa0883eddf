// Agreement between two orders of the same source words.
//
// An order lists source positions, each at most once. To compare two orders as permutations, both are extended to all
// positions that either lists: a missing position is inserted right after the position before it (among those listed by
// either), or at the front if there is none (Birch and Osborne 2010, section 3).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/slices.hh"

namespace hyperbaton {

using OrdersView = SlicesView<std::uint16_t>;

struct OrderAgreement {
  std::int64_t n_reference;   // positions of the reference order
  std::int64_t n_steps;       // common steps of both orders, the first from the sentence start
  std::int64_t n_inner;       // common steps without the one from the sentence start
  std::int64_t n_positions;   // positions of the permutations
  std::int64_t n_discordant;  // pairs that the permutations order differently
  std::int64_t n_displaced;   // places where the permutations differ
};

// Compare each hypothesis h with reference `line[h]`.
std::vector<OrderAgreement> compare_orders(const OrdersView& hypotheses, const OrdersView& references,
                                           std::span<const std::int64_t> line, unsigned n_threads);

}  // namespace hyperbaton
