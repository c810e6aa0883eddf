// The tables of a language model as arrays of NumPy.
#pragma once

#include "lm/build.hh"
#include "module.hh"

namespace hyperbaton::bindings {

// (slots, probability bins, back-off bins) of each order.
inline nb::tuple to_tuple(std::vector<NgramArrays>&& tables) {
  nb::list orders;
  for (auto& table : tables)
    orders.append(nb::make_tuple(to_numpy(std::move(table.bytes), table.stride), to_numpy(std::move(table.prob_bins)),
                                 to_numpy(std::move(table.backoff_bins))));
  return nb::tuple(orders);
}

}  // namespace hyperbaton::bindings
