// Translation options as held by Python.
#pragma once

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

// Walls (sentence, word before) and zones (sentence, begin, end), by sentence.
inline std::vector<Wall> walls_of(const Array2<std::int64_t>& rows) {
  std::vector<Wall> walls;
  for (std::size_t i = 0; i < rows.shape(0); ++i)
    walls.push_back({static_cast<std::uint32_t>(rows(i, 0)), static_cast<std::uint16_t>(rows(i, 1))});
  return walls;
}
inline std::vector<Zone> zones_of(const Array2<std::int64_t>& rows) {
  std::vector<Zone> zones;
  for (std::size_t i = 0; i < rows.shape(0); ++i)
    zones.push_back({static_cast<std::uint32_t>(rows(i, 0)), static_cast<std::uint16_t>(rows(i, 1)),
                     static_cast<std::uint16_t>(rows(i, 2))});
  return zones;
}

// Forced translations, one for each of n sentences; a null pointer forces nothing.
inline ForcedView view_forced(const BoundTokens* forced, std::size_t n) {
  if (!forced) return {};
  if (forced->offsets.size() != n + 1) throw Error("there must be a translation for each sentence");
  return {view(forced->words), view(forced->offsets)};
}

}  // namespace hyperbaton::bindings
