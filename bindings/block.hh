// Texts, options and models of the block model.
#pragma once

#include "block/model.hh"
#include "decode/block_scorer.hh"
#include "texts.hh"

namespace hyperbaton::bindings {

// Source sentences with tags and trees; the arrays are kept alive by Python.
struct BoundBlockText {
  BlockText text;
};

// Translation options as step models see them, with their arrays.
struct BoundBlockOptions {
  Ints offsets;
  Shorts begin;
  Bytes length;
  BoundTokens targets;
  Array2<std::uint16_t> links;
  Ints link_offsets;

  BlockOptions options() const {
    return {.offsets = view(offsets),
            .begin = view(begin),
            .length = view(length),
            .targets = targets.tokens(),
            .links = view_links(links, link_offsets)};
  }
};

// A trained model with its arrays.
struct BoundBlockModel {
  BlockModel model;
};

}  // namespace hyperbaton::bindings
