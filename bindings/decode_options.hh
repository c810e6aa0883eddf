// Translation options as Python holds them.
#pragma once

#include "decode/options.hh"
#include "table.hh"
#include "texts.hh"

namespace hyperbaton::bindings {

struct BoundOptions {
  TranslationOptions options;
};

// Translations that must come out, one for each of n sentences; a null pointer forces nothing.
inline ForcedView view_forced(const BoundTokens* forced, std::size_t n) {
  if (!forced) return {};
  if (forced->offsets.size() != n + 1) throw Error("a translation for each sentence is needed");
  return {view(forced->words), view(forced->offsets)};
}

}  // namespace hyperbaton::bindings
