#include "features/rows.hh"

#include <bit>
#include <limits>

namespace hyperbaton {

namespace {

constexpr std::size_t kRowBlock = 4096;
// A round of counting holds about this many keys at once, spread over the partitions of the round.
constexpr std::size_t kKeysTogether = std::size_t{1} << 26;
constexpr unsigned kPartitionBits = 8;
constexpr std::size_t kPartitions = std::size_t{1} << kPartitionBits;
constexpr std::size_t kCountBlocks = 64;

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

// Counts equal keys of one partition.
class KeyCounter {
 public:
  explicit KeyCounter(std::size_t n_keys)
      : mask_(std::bit_ceil(2 * n_keys + 2) - 1), keys_(mask_ + 1), counts_(mask_ + 1, 0) {}
  void add(std::uint64_t key) {
    std::size_t slot = static_cast<std::size_t>(key) & mask_;
    while (counts_[slot] != 0 && keys_[slot] != key) slot = (slot + 1) & mask_;
    keys_[slot] = key;
    if (counts_[slot] != std::numeric_limits<std::uint32_t>::max()) ++counts_[slot];
  }
  std::vector<std::uint64_t> frequent(std::uint32_t min_count) const {
    std::vector<std::uint64_t> found;
    for (std::size_t slot = 0; slot <= mask_; ++slot)
      if (counts_[slot] != 0 && counts_[slot] >= min_count) found.push_back(keys_[slot]);
    std::sort(found.begin(), found.end());
    return found;
  }

 private:
  std::size_t mask_;
  std::vector<std::uint64_t> keys_;
  std::vector<std::uint32_t> counts_;
};

// Finds keys through a table on their top bits.
class KeyIndex {
 public:
  explicit KeyIndex(std::span<const std::uint64_t> keys) : keys_(keys) {
    const unsigned bits = std::max(1u, static_cast<unsigned>(std::bit_width(keys.size())));
    shift_ = 64 - bits;
    starts_.assign((std::size_t{1} << bits) + 1, 0);
    for (const std::uint64_t key : keys) ++starts_[static_cast<std::size_t>(key >> shift_) + 1];
    for (std::size_t b = 1; b < starts_.size(); ++b) starts_[b] += starts_[b - 1];
  }
  void prefetch_bucket(std::uint64_t key) const { __builtin_prefetch(&starts_[static_cast<std::size_t>(key >> shift_)]); }
  void prefetch_key(std::uint64_t key) const {
    __builtin_prefetch(keys_.data() + starts_[static_cast<std::size_t>(key >> shift_)]);
  }
  // The rank of a key, -1 if it is not there.
  std::int32_t find(std::uint64_t key) const {
    const std::size_t bucket = static_cast<std::size_t>(key >> shift_);
    for (std::uint32_t at = starts_[bucket]; at < starts_[bucket + 1]; ++at)
      if (keys_[at] == key) return static_cast<std::int32_t>(at);
    return -1;
  }

 private:
  std::span<const std::uint64_t> keys_;
  unsigned shift_;
  std::vector<std::uint32_t> starts_;
};

}  // namespace

std::vector<std::uint64_t> count_features(std::span<const Template> templates, const Occurrences& where,
                                          const Counting& options, const Progress& progress) {
  const std::size_t n = where.size();
  const std::size_t n_rounds = std::bit_ceil(n * templates.size() / kKeysTogether + 1);
  const unsigned round_bits = static_cast<unsigned>(std::bit_width(n_rounds) - 1);
  const std::size_t block_size = n / kCountBlocks + 1, n_blocks = n == 0 ? 0 : (n - 1) / block_size + 1;
  std::vector<std::uint64_t> all;
  for (std::size_t round = 0; round < n_rounds; ++round) {
    std::vector<std::array<std::vector<std::uint64_t>, kPartitions>> parts(n_blocks);
    const Progress report = [&](std::size_t done, std::size_t) {
      return !progress || progress(round * n + done, n_rounds * n);
    };
    parallel_blocks(n, block_size, options.n_threads, report, [&](std::size_t begin, std::size_t end) {
      auto& mine = parts[begin / block_size];
      RowKeys keys(templates, where);
      for (std::size_t i = begin; i < end; ++i)
        for (const std::uint64_t key : keys.of(i)) {
          const std::size_t partition = static_cast<std::size_t>(key >> (64 - round_bits - kPartitionBits));
          if (partition >> kPartitionBits == round) mine[partition & (kPartitions - 1)].push_back(key);
        }
    });
    std::array<std::vector<std::uint64_t>, kPartitions> kept;
    parallel_blocks(kPartitions, 1, options.n_threads, {}, [&](std::size_t p, std::size_t) {
      std::size_t n_keys = 0;
      for (const auto& part : parts) n_keys += part[p].size();
      KeyCounter counter(n_keys);
      for (auto& part : parts) {
        for (const std::uint64_t key : part[p]) counter.add(key);
        std::vector<std::uint64_t>().swap(part[p]);
      }
      kept[p] = counter.frequent(options.min_count);
    });
    for (const auto& part : kept) all.insert(all.end(), part.begin(), part.end());
  }
  if (all.size() >= static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()))
    throw Error("more features than can be numbered: raise the minimum count");
  return all;
}

FeatureRows feature_rows(std::span<const Template> templates, const Occurrences& where, std::span<const std::uint64_t> keys,
                         unsigned n_threads, const Progress& progress) {
  const KeyIndex index(keys);
  const std::size_t n = where.size(), n_blocks = (n + kRowBlock - 1) / kRowBlock;
  FeatureRows rows;
  rows.starts.assign(n + 1, 0);
  std::vector<std::vector<std::int32_t>> parts(n_blocks);
  parallel_blocks(n, kRowBlock, n_threads, progress, [&](std::size_t begin, std::size_t end) {
    auto& mine = parts[begin / kRowBlock];
    RowKeys row_keys(templates, where);
    for (std::size_t i = begin; i < end; ++i) {
      const auto& wanted = row_keys.of(i);
      for (const std::uint64_t key : wanted) index.prefetch_bucket(key);
      for (const std::uint64_t key : wanted) index.prefetch_key(key);
      const std::size_t first = mine.size();
      for (const std::uint64_t key : wanted)
        if (const std::int32_t id = index.find(key); id >= 0) mine.push_back(id);
      std::sort(mine.begin() + static_cast<std::ptrdiff_t>(first), mine.end());
      rows.starts[i + 1] = static_cast<std::int64_t>(mine.size() - first);
    }
    mine.shrink_to_fit();
  });
  for (std::size_t i = 0; i < n; ++i) rows.starts[i + 1] += rows.starts[i];
  rows.indices.resize(static_cast<std::size_t>(rows.starts[n]));
  parallel_blocks(n_blocks, 1, n_threads, {}, [&](std::size_t b, std::size_t) {
    std::copy(parts[b].begin(), parts[b].end(), rows.indices.begin() + rows.starts[b * kRowBlock]);
    std::vector<std::int32_t>().swap(parts[b]);
  });
  return rows;
}

FeatureContents feature_contents(std::span<const Template> templates, const Occurrences& where,
                                 std::span<const std::uint64_t> keys, const FeatureRows& rows, unsigned n_threads) {
  constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
  std::vector<std::uint32_t> first(keys.size(), none);
  for (std::size_t i = where.size(); i-- > 0;)
    for (auto at = rows.starts[i]; at < rows.starts[i + 1]; ++at)
      first[static_cast<std::size_t>(rows.indices[static_cast<std::size_t>(at)])] = static_cast<std::uint32_t>(i);
  const KeyIndex index(keys);
  FeatureContents contents{std::vector<std::int32_t>(keys.size(), -1), std::vector<std::uint8_t>(keys.size(), 0),
                           std::vector<WordId>(kMaxWords * keys.size(), 0)};
  parallel_blocks(where.size(), kRowBlock, n_threads, {}, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      bool introduces = false;
      for (auto at = rows.starts[i]; at < rows.starts[i + 1] && !introduces; ++at)
        introduces = first[static_cast<std::size_t>(rows.indices[static_cast<std::size_t>(at)])] == i;
      if (!introduces) continue;
      for_each_feature(templates, where, i, [&](std::uint64_t key, std::int32_t name, std::span<const WordId> words) {
        const std::int32_t id = index.find(key);
        if (id < 0 || first[static_cast<std::size_t>(id)] != i) return;
        contents.names[static_cast<std::size_t>(id)] = name;
        contents.lengths[static_cast<std::size_t>(id)] = static_cast<std::uint8_t>(words.size());
        std::copy(words.begin(), words.end(), contents.words.begin() + static_cast<std::ptrdiff_t>(kMaxWords) * id);
      });
    }
  });
  return contents;
}

}  // namespace hyperbaton
