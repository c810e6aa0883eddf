// Translation options as held by Python.
#pragma once

#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "decode/limits.hh"
#include "decode/options.hh"
#include "table.hh"
#include "texts.hh"

namespace hyperbaton::bindings {

struct BoundOptions {
  TranslationOptions options;
};

// A translator has one kind of table, so one of these stays empty.
struct RankCaches {
  OptionCache options;
  RuleCache rules;
};

// Source sentences, and for each token the target word used when it is passed through.
struct SourceTokens {
  BoundTokens tokens;
  Words copies;
};

// Translations required by the user, with their spans (sentence, begin, end).
struct BoundDemands {
  std::vector<Demand> spans;
  BoundTokens words;
  Demands demands() const { return {.spans = spans, .offsets = view(words.offsets), .words = view(words.words)}; }
};

// Walls (sentence, word before) and zones or demands (sentence, begin, end), by sentence.
using WallRows = std::vector<std::pair<std::uint32_t, std::uint16_t>>;
using SpanRows = std::vector<std::tuple<std::uint32_t, std::uint16_t, std::uint16_t>>;

inline std::vector<Wall> walls_of(const WallRows& rows) {
  std::vector<Wall> walls;
  for (const auto& [sentence, after] : rows) walls.push_back({sentence, after});
  return walls;
}
template <class Span>
std::vector<Span> spans_of(const SpanRows& rows) {
  std::vector<Span> spans;
  for (const auto& [sentence, begin, end] : rows) spans.push_back({sentence, begin, end});
  return spans;
}

// Forced translations, one for each of n sentences; a null pointer forces nothing.
inline ForcedView view_forced(const BoundTokens* forced, std::size_t n) {
  if (!forced) return {};
  if (forced->offsets.size() != n + 1) throw Error("there must be a translation for each sentence");
  return {view(forced->words), view(forced->offsets)};
}

}  // namespace hyperbaton::bindings
