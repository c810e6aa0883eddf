#include "hierarchical/rescoring.hh"

#include <algorithm>
#include <numeric>

namespace hyperbaton {

std::span<const std::int64_t> SentencePhrases::numbers(std::span<const WordId> words, std::span<const Link> links) {
  numbers_.clear();
  if (!begun_.empty()) begun_.front().target = 0;
  for (std::size_t k = 0; k < begun_.size(); ++k) {
    const auto& [source, first, is_unknown] = begun_[k];
    const auto last = k + 1 < begun_.size() ? begun_[k + 1].target : words.size();
    key_.assign({static_cast<std::uint32_t>(source.end - source.begin) | (is_unknown ? kUnknownContent : 0),
                 static_cast<std::uint32_t>(last - first)});
    for (const auto word : words.subspan(first, last - first)) key_.push_back(word);
    for (const auto link : links)
      if (source.begin <= link.source && link.source < source.end && first <= link.target && link.target < last)
        key_.push_back(static_cast<std::uint32_t>(link.source - source.begin) << 16 |
                       static_cast<std::uint32_t>(link.target - first));
    numbers_.push_back(all_.add(all_.add_content(key_), source));
  }
  return numbers_;
}

SentenceBlocks SentencePhrases::take(std::vector<ChartDecoded>& paths) {
  std::vector<std::size_t> order(all_.blocks.size()), rank(order.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) {
    const auto span = all_.blocks[i].span;
    return std::pair(span.begin, span.end);
  });
  std::vector<SentenceBlocks::Block> sorted;
  for (const auto i : order) {
    rank[i] = sorted.size();
    sorted.push_back(all_.blocks[i]);
  }
  all_.blocks = std::move(sorted);
  for (auto& path : paths)
    for (auto& phrase : path.phrases) phrase = static_cast<std::int64_t>(rank[to_size(phrase)]);
  return std::move(all_);
}

void rescore(ChartCandidates& candidates, const DecodeInput& input, unsigned n_threads, const Progress& progress) {
  const auto order = longest_first(input.source_offsets);
  parallel_chunks(order.size(), 1, n_threads, progress, [&](std::size_t at, std::size_t, Poll& poll) {
    const auto s = order[at];
    auto& paths = candidates.sentences[s].paths;
    if (paths.empty()) return;
    Space space = unlimited(input, s);
    std::vector<std::uint32_t> phrases;
    for (auto& path : paths) {
      poll();
      phrases.clear();
      for (const auto row : path.phrases) phrases.push_back(static_cast<std::uint32_t>(row - input.options.offsets[s]));
      path.scores[0] += space.add_path_values(phrases, path.phrase_features);
    }
    std::ranges::stable_sort(paths, std::greater{}, [](const ChartDecoded& path) { return path.scores[0]; });
  });
}

}  // namespace hyperbaton
