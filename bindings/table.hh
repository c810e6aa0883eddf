// The arrays of a phrase table as Python hands them over, for all bindings that look at one.
#pragma once

#include "module.hh"
#include "phrases/score.hh"

namespace hyperbaton::bindings {

using Ints = Array<std::int64_t>;
using Words = Array<std::uint32_t>;

inline std::span<const InnerLink> view_inner(const Array2<std::uint8_t>& points) {
  if (points.shape(1) != 2) throw Error("inner links need the shape (n, 2)");
  return {reinterpret_cast<const InnerLink*>(points.data()), points.shape(0)};
}

// The arrays of a phrase table, held while the core looks at them.
struct TableArrays {
  Ints source_offsets;
  Words source_words;
  Ints target_offsets;
  Words target_words;
  Ints offsets;
  Words targets;
  Ints link_offsets;
  Array2<std::uint8_t> links;

  PairsView pairs() const {
    return {{view(source_offsets), view(source_words)},
            {view(target_offsets), view(target_words)},
            view(offsets),
            view(targets),
            view(link_offsets),
            view_inner(links)};
  }
};

}  // namespace hyperbaton::bindings
