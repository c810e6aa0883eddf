#include "align/lexical.hh"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/parallel.hh"

namespace hyperbaton {

LexicalCounts lexical_counts(TokensView source, TokensView target, LinksView links, VocabularySizes sizes,
                             unsigned n_threads) {
  const std::size_t n = source.offsets.size() - 1;
  const auto no_source = static_cast<WordId>(sizes.source), no_target = static_cast<WordId>(sizes.target);
  constexpr std::size_t chunk = 4096;
  const std::size_t n_chunks = (n + chunk - 1) / chunk;
  std::vector<std::vector<std::uint64_t>> keys(n_chunks);
  const auto key = [](WordId s, WordId t) { return (static_cast<std::uint64_t>(s) << 32) | t; };
  parallel_chunks(n, chunk, n_threads, {}, [&](std::size_t begin, std::size_t end) {
    auto& mine = keys[begin / chunk];
    std::vector<std::uint8_t> source_linked, target_linked;
    for (std::size_t p = begin; p < end; ++p) {
      const auto src = source[p], tgt = target[p];
      source_linked.assign(src.size(), 0);
      target_linked.assign(tgt.size(), 0);
      for (const auto link : links[p]) {
        mine.push_back(key(src[link.source], tgt[link.target]));
        source_linked[link.source] = target_linked[link.target] = 1;
      }
      for (std::size_t i = 0; i < src.size(); ++i)
        if (!source_linked[i]) mine.push_back(key(src[i], no_target));
      for (std::size_t j = 0; j < tgt.size(); ++j)
        if (!target_linked[j]) mine.push_back(key(no_source, tgt[j]));
    }
  });

  // Group by source word and sort each group.
  LexicalCounts table;
  table.offsets.assign(sizes.source + 2, 0);
  std::vector<std::int64_t> starts(sizes.source + 2, 0);
  for (const auto& mine : keys)
    for (const auto k : mine) ++starts[k >> 32];
  const auto total = to_size(exclusive_sum(starts));
  std::vector<std::uint32_t> all(total);
  auto next = starts;
  for (auto& mine : keys) {
    for (const auto k : mine) all[to_size(next[k >> 32]++)] = static_cast<std::uint32_t>(k);
    std::vector<std::uint64_t>().swap(mine);
  }
  for (std::size_t s = 0; s <= sizes.source; ++s) {
    const auto begin = all.begin() + starts[s], end = all.begin() + starts[s + 1];
    std::sort(begin, end);
    for (auto run = begin; run != end;) {
      const auto stop = std::upper_bound(run, end, *run);
      table.targets.push_back(*run);
      table.counts.push_back(static_cast<std::uint32_t>(stop - run));
      run = stop;
    }
    table.offsets[s + 1] = static_cast<std::int64_t>(table.targets.size());
  }
  return table;
}

std::optional<std::array<double, 2>> LexicalTable::find(WordId source, WordId target) const {
  if (source > sizes.source) return {};
  const auto entries = range_of(offsets, source, targets.size());
  const auto plain = targets.plain();  // extraction looks up many words
  const auto entry =
      plain.empty()
          ? targets.lower_bound(entries, target)
          : to_size(std::lower_bound(plain.data() + entries.first, plain.data() + entries.last, target) - plain.data());
  if (entry == entries.last || targets[entry] != target) return {};
  if (!probabilities.empty()) return {{probabilities[2 * entry], probabilities[2 * entry + 1]}};
  // Seven decimals, as in Moses' files, and none rounded to zero.
  const auto share = [count = static_cast<double>(counts.pairs[entry])](std::uint64_t total) {
    return std::max(std::nearbyint(count / static_cast<double>(total) * 1e7) / 1e7, 1e-7);
  };
  return {{share(counts.source[source]), share(counts.target[target])}};
}

}  // namespace hyperbaton
