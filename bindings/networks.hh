// Arrays of networks, as NumPy has them.
#pragma once

#include <nanobind/stl/map.h>

#include <cstdint>
#include <map>
#include <string>

#include "module.hh"
#include "network/sentence_encoder.hh"

namespace hyperbaton::bindings {

using Halves = Array2<std::uint16_t>;

inline HalfMatrices matrices_of(const std::map<std::string, Halves>& arrays) {
  HalfMatrices matrices;
  for (const auto& [name, array] : arrays) matrices.emplace(name, HalfMatrix{view(array), array.shape(0), array.shape(1)});
  return matrices;
}

}  // namespace hyperbaton::bindings
