#include "rules/rule_symbols.hh"

#include <algorithm>
#include <string_view>
#include <vector>

#include "base/errors.hh"

namespace hyperbaton {

namespace {

std::size_t n_words(SpelledWords words, std::size_t n_gaps) {
  if (words.offsets.empty() || words.size() < n_gaps) throw Error("a vocabulary of rules has no gaps");
  return words.size() - n_gaps;
}

// The byte order of lines in which a side of a rule ends with its label, as Moses writes them.
ByteOrder moses_order(SpelledWords words, std::size_t n_gaps) {
  constexpr std::string_view gap = "[X][X]";
  const auto n = n_words(words, n_gaps);
  const auto kept = words.bytes.first(to_size(words.offsets[n]));
  std::vector<std::uint8_t> bytes(kept.begin(), kept.end());
  const auto first = words.offsets.first(n + 1);
  std::vector<std::int64_t> offsets(first.begin(), first.end());
  bytes.insert(bytes.end(), gap.begin(), gap.end());
  offsets.push_back(static_cast<std::int64_t>(bytes.size()));
  auto order = byte_order({bytes, offsets}, "[X]");
  order.ranks.resize(words.size(), order.ranks.back());
  return order;
}

}  // namespace

GapSymbols gap_symbols(SpelledWords source_words, SpelledWords target_words) {
  return {static_cast<WordId>(n_words(source_words, 1)), static_cast<WordId>(n_words(target_words, 2))};
}

RuleSymbols::RuleSymbols(SpelledWords source_words, SpelledWords target_words)
    : gaps(gap_symbols(source_words, target_words)),
      source(byte_order(source_words)),
      target(byte_order(target_words)),
      moses{moses_order(source_words, 1), moses_order(target_words, 2)} {}

}  // namespace hyperbaton
