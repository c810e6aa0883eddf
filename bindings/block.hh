// Common parts of the bindings of the block model: texts and models over borrowed arrays.
#pragma once

#include "block/model.hh"
#include "module.hh"

namespace hyperbaton::bindings {

// Source sentences with tags and trees; the arrays are kept alive by Python.
struct BoundBlockText {
  BlockText text;
};

// A trained model with its arrays.
struct BoundBlockModel {
  BlockModel model;
};

}  // namespace hyperbaton::bindings
