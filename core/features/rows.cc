#include "features/rows.hh"

#include <limits>
#include <map>

#include "features/keys.hh"

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

// Templates in groups of at most `most`, or of one name if that has more: no feature has templates in two groups, so that
// each can be counted by itself, and no template is applied twice however many samples there are.
std::vector<std::vector<Template>> templates_together(std::span<const Template> templates, std::size_t most) {
  std::map<std::int32_t, std::vector<Template>> by_name;
  for (const Template& t : templates) by_name[t.name].push_back(t);
  std::vector<std::vector<Template>> groups;
  for (const auto& [name, own] : by_name) {
    if (groups.empty() || groups.back().size() + own.size() > most) groups.emplace_back();
    groups.back().insert(groups.back().end(), own.begin(), own.end());
  }
  return groups;
}

}  // namespace

std::vector<std::uint64_t> count_features(std::span<const Template> templates, const Occurrences& where,
                                          const Counting& options, const Progress& progress) {
  const auto groups = templates_together(templates, options.keys_together / std::max<std::size_t>(where.size(), 1));
  std::vector<std::uint64_t> all;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const Progress report = [&](std::size_t done, std::size_t total) {
      return !progress || progress(g * total + done, groups.size() * total);
    };
    const KeySource source{where.size(), where.size() * groups[g].size()};
    const auto keys_of_group = count_keys(source, options, report, [&] {
      return [keys = RowKeys(groups[g], where)](std::size_t i, const auto& emit) mutable {
        for (const std::uint64_t key : keys.of(i)) emit(key);
      };
    });
    all.insert(all.end(), keys_of_group.begin(), keys_of_group.end());
  }
  check_number(all.size());
  std::sort(all.begin(), all.end());
  return all;
}

FeatureRows feature_rows(std::span<const Template> templates, const Occurrences& where, const KeyIndex& index,
                         unsigned n_threads, const Progress& progress) {
  const std::size_t n = where.size(), n_chunks = (n + kRowChunk - 1) / kRowChunk;
  FeatureRows rows;
  rows.starts.assign(n + 1, 0);
  std::vector<std::vector<std::int32_t>> parts(n_chunks);
  parallel_chunks(n, kRowChunk, n_threads, progress, [&](std::size_t begin, std::size_t end) {
    auto& mine = parts[begin / kRowChunk];
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
  parallel_chunks(n_chunks, 1, n_threads, {}, [&](std::size_t b, std::size_t) {
    std::copy(parts[b].begin(), parts[b].end(), rows.indices.begin() + rows.starts[b * kRowChunk]);
    std::vector<std::int32_t>().swap(parts[b]);
  });
  return rows;
}

FeatureContents feature_contents(std::span<const Template> templates, const Occurrences& where, const KeyIndex& index,
                                 const FeatureRows& rows, unsigned n_threads) {
  constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
  constexpr std::size_t ahead = 32;  // entries between asking for memory and using it
  std::vector<std::uint32_t> first(index.size(), none);
  const auto first_of = [&](std::size_t at) -> std::uint32_t& { return first[static_cast<std::size_t>(rows.indices[at])]; };
  for (std::size_t i = where.size(), at = rows.indices.size(); i-- > 0;)
    while (at > static_cast<std::size_t>(rows.starts[i])) {
      if (at > ahead) __builtin_prefetch(&first_of(at - ahead), 1);
      first_of(--at) = static_cast<std::uint32_t>(i);
    }
  FeatureContents contents{std::vector<std::int32_t>(index.size(), -1), std::vector<std::uint8_t>(index.size(), 0),
                           std::vector<WordId>(kMaxWords * index.size(), 0)};
  parallel_chunks(where.size(), kRowChunk, n_threads, {}, [&](std::size_t begin, std::size_t end) {
    std::vector<std::pair<std::uint64_t, std::int32_t>> introduced;  // key and number of features met here first
    for (std::size_t i = begin; i < end; ++i) {
      introduced.clear();
      for (auto at = static_cast<std::size_t>(rows.starts[i]); at < static_cast<std::size_t>(rows.starts[i + 1]); ++at) {
        if (at + ahead < rows.indices.size()) __builtin_prefetch(&first_of(at + ahead));
        if (first_of(at) == i) introduced.emplace_back(index.key(rows.indices[at]), rows.indices[at]);
      }
      if (introduced.empty()) continue;
      for_each_feature(templates, where, i, [&](std::uint64_t key, std::int32_t name, std::span<const WordId> words) {
        for (const auto& [own, id] : introduced) {
          if (own != key) continue;
          contents.names[static_cast<std::size_t>(id)] = name;
          contents.lengths[static_cast<std::size_t>(id)] = static_cast<std::uint8_t>(words.size());
          std::copy(words.begin(), words.end(), contents.words.begin() + static_cast<std::ptrdiff_t>(kMaxWords) * id);
        }
      });
    }
  });
  return contents;
}

}  // namespace hyperbaton
