#include "features/rows.hh"

namespace hyperbaton {

namespace {

constexpr std::size_t kRowChunk = 4096;

// The different keys of one occurrence.
class RowKeys {
 public:
  RowKeys(std::span<const Template> templates, const Occurrences& where)
      : templates_(templates), where_(where), repeats_(may_repeat(templates)) {}

  const std::vector<std::uint64_t>& of(std::size_t i) {
    keys_.clear();
    for_each_feature(templates_, where_, i,
                     [&](std::uint64_t key, std::int32_t, std::span<const WordId>) { keys_.push_back(key); });
    if (repeats_) {
      std::sort(keys_.begin(), keys_.end());
      keys_.erase(std::unique(keys_.begin(), keys_.end()), keys_.end());
    }
    return keys_;
  }

 private:
  std::span<const Template> templates_;
  const Occurrences& where_;
  bool repeats_;
  std::vector<std::uint64_t> keys_;
};

}  // namespace

FeatureRows joined_rows(std::size_t n_rows, unsigned n_threads, const Progress& progress, const MakeRows& make) {
  FeatureRows rows;
  rows.starts.assign(n_rows + 1, 0);
  std::vector<std::vector<std::int32_t>> parts((n_rows + kRowChunk - 1) / kRowChunk);
  parallel_chunks(n_rows, kRowChunk, n_threads, progress, [&](std::size_t begin, std::size_t end) {
    auto& mine = parts[begin / kRowChunk];
    make(begin, {mine, std::span(rows.starts).subspan(begin + 1, end - begin)});
    mine.shrink_to_fit();
  });
  for (std::size_t i = 0; i < n_rows; ++i) rows.starts[i + 1] += rows.starts[i];
  rows.indices.resize(static_cast<std::size_t>(rows.starts[n_rows]));
  parallel_chunks(parts.size(), 1, n_threads, {}, [&](std::size_t b, std::size_t) {
    std::copy(parts[b].begin(), parts[b].end(), rows.indices.begin() + rows.starts[b * kRowChunk]);
    std::vector<std::int32_t>().swap(parts[b]);
  });
  return rows;
}

FeatureRows feature_rows(std::span<const Template> templates, const Occurrences& where, const KeyIndex& index,
                         unsigned n_threads) {
  return joined_rows(where.size(), n_threads, {}, [&](std::size_t begin, RowsPart part) {
    RowKeys row_keys(templates, where);
    for (std::size_t r = 0; r < part.lengths.size(); ++r) {
      const auto& wanted = row_keys.of(begin + r);
      for (const std::uint64_t key : wanted) index.prefetch_bucket(key);
      for (const std::uint64_t key : wanted) index.prefetch_key(key);
      const std::size_t first = part.indices.size();
      for (const std::uint64_t key : wanted)
        if (const std::int32_t id = index.find(key); id >= 0) part.indices.push_back(id);
      std::sort(part.indices.begin() + static_cast<std::ptrdiff_t>(first), part.indices.end());
      part.lengths[r] = static_cast<std::int64_t>(part.indices.size() - first);
    }
  });
}

}  // namespace hyperbaton
