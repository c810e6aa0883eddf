// Translation options for step models.
#pragma once

#include "block.hh"
#include "decode/block_scorer.hh"
#include "texts.hh"

namespace hyperbaton::bindings {

// Options with their arrays.
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

}  // namespace hyperbaton::bindings
