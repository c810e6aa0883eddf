#include "decode/best_phrases.hh"

#include <algorithm>

namespace hyperbaton {

BestPhrases::BestPhrases(std::span<const std::int64_t> pieces, std::span<const std::int64_t> path_offsets,
                         std::span<const std::int64_t> step_offsets, std::span<const std::int64_t> steps) {
  for (std::size_t s = 0; s + 1 < pieces.size(); ++s) {
    for (auto piece = pieces[s]; piece < pieces[s + 1]; ++piece) {
      if (to_size(piece) + 1 >= path_offsets.size()) throw Error("there are fewer pieces than the sentences have");
      if (path_offsets[to_size(piece)] == path_offsets[to_size(piece) + 1]) continue;
      for (const auto step : slice(steps, step_offsets, to_size(path_offsets[to_size(piece)])))
        phrases_.push_back({to_size(step), to_size(pieces[s]), to_size(piece)});
    }
    offsets_.push_back(static_cast<std::int64_t>(phrases_.size()));
  }
}

void BestPhrases::check(std::size_t n_phrases) const {
  if (std::ranges::any_of(phrases_, [&](const Phrase& phrase) { return phrase.number >= n_phrases; }))
    throw Error("there are fewer phrases than the steps take");
}

std::string BestPhrases::lines(const SpelledText& phrases) const {
  phrases.check();
  check(phrases.n_sentences());
  std::string lines;
  for (std::size_t s = 0; s + 1 < offsets_.size(); ++s) {
    const auto begin = lines.size();
    for (const auto& phrase : valid_slice(phrases_, offsets_, s))
      for (std::size_t i = 0; i < phrases.length(phrase.number); ++i) {
        if (lines.size() > begin) lines += ' ';
        lines += phrases.word(phrase.number, i);
      }
    lines += '\n';
  }
  return lines;
}

LinksBuffer BestPhrases::links(const LinksView& inside, std::span<const std::uint16_t> begins,
                               std::span<const std::int64_t> target_offsets,
                               std::span<const std::int64_t> source_offsets) const {
  const auto n_phrases = begins.size();
  check(n_phrases);
  if (inside.offsets.size() != n_phrases + 1 || target_offsets.size() != n_phrases + 1)
    throw Error("there must be links, a target and a place for each phrase");
  LinksBuffer links;
  for (std::size_t s = 0; s + 1 < offsets_.size(); ++s) {
    std::int64_t target = 0;
    for (const auto& [number, first_piece, piece] : valid_slice(phrases_, offsets_, s)) {
      if (piece + 1 >= source_offsets.size()) throw Error("there are fewer pieces than the sentences have");
      const auto source = source_offsets[piece] - source_offsets[first_piece] + begins[number];
      for (const auto& link : inside[number])
        links.points.push_back(
            {static_cast<std::uint16_t>(source + link.source), static_cast<std::uint16_t>(target + link.target)});
      target += target_offsets[number + 1] - target_offsets[number];
    }
    links.end_sentence();
  }
  return links;
}

}  // namespace hyperbaton
