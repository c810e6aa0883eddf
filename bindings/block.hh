// Common parts of the bindings of the block model: texts and models over borrowed arrays.
#pragma once

#include "block/model.hh"
#include "module.hh"

namespace hyperbaton::bindings {

using Words = Array<std::uint32_t>;
using Ints = Array<std::int64_t>;
using Keys = Array<std::uint64_t>;
using Bytes = Array<std::uint8_t>;
using Shorts = Array<std::uint16_t>;

// Source sentences with tags and trees; the arrays are kept alive by Python.
struct BoundBlockText {
  BlockText text;
};

// A trained model with its arrays.
struct BoundBlockModel {
  BlockModel model;
};

}  // namespace hyperbaton::bindings
