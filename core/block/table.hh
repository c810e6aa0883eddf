// The blocks of a training corpus: for each source phrase its targets with counts, and how far each pair jumped.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "block/walk.hh"
#include "features/keys.hh"

namespace hyperbaton {

// A linked bitext, the training data of the block model.
struct BlockBitext {
  BlockText source;
  TokensView target;
  LinksView links;

  std::size_t size() const { return source.size(); }
  bool has_path(std::size_t s) const { return !links[s].empty(); }
  // Throws Error unless the parts match.
  void check() const;
};

using Words = std::span<const WordId>;

// Reads the paths of sentence pairs in order.
class PathReader {
 public:
  explicit PathReader(const BlockBitext& bitext) : bitext_(bitext) {}

  // Call use(sentence, span, target words, jump class, history) for each step of a sentence pair's path, if it has one.
  template <class Use>
  void read(std::size_t s, const Use& use) {
    if (!bitext_.has_path(s)) return;
    const auto sentence = bitext_.source[s];
    const auto target = bitext_.target[s];
    state_.start(sentence.size());
    const auto& path = finder_.find(bitext_.links[s], sentence.size());
    walk(path.steps, 0, sentence.size(), target, state_,
         [&](const PathStep& step, SourceSpan span, std::size_t jump, const History& history) {
           words_.clear();
           for (const auto position : path.targets_of(step)) words_.push_back(target[position]);
           use(sentence, span, Words(words_), jump, history);
         });
  }

 private:
  const BlockBitext& bitext_;
  PathFinder finder_;
  PathState state_;
  std::vector<WordId> words_;
};

// Source phrases, targets and pairs. Phrases are numbered by their hashes; pairs are sorted by source phrase, frequent
// ones first.
struct BlockTable {
  std::vector<std::uint64_t> source_keys, target_keys;       // sorted
  std::vector<std::int64_t> source_offsets, target_offsets;  // of the phrases' words
  std::vector<WordId> source_words, target_words;
  std::vector<std::int64_t> offsets;     // pairs of source phrase p are [offsets[p], offsets[p + 1])
  std::vector<std::uint32_t> targets;    // of each pair
  std::vector<std::uint32_t> counts;     // of each pair
  std::vector<std::uint32_t> jumps;      // (pairs, 11)
  std::vector<std::uint32_t> tag_jumps;  // (tags, 11), of blocks of one source word
  std::vector<std::uint32_t>
      length_jumps;  // (lengths, 11): row l - 1 has blocks of l source words, the last all longer ones
};

struct TableOptions {
  std::size_t n_tags, n_lengths;
  unsigned n_threads;
};

BlockTable count_blocks(const BlockBitext& bitext, const TableOptions& options, const Progress& progress);

// A view of a table.
struct BlockTableView {
  std::span<const std::uint64_t> source_keys, target_keys;
  std::span<const std::int64_t> offsets;
  std::span<const std::uint32_t> targets, counts, jumps;
  std::span<const std::uint32_t> target_tags;  // of each target

  void check() const;
};

// Finds phrases and pairs of a table.
class BlockLookup {
 public:
  explicit BlockLookup(const BlockTableView& table)
      : table_(table), sources_(table.source_keys), targets_(table.target_keys) {
    for (std::size_t p = 0; p + 1 < table.offsets.size(); ++p) {
      double total = 0;
      for (auto row = table.offsets[p]; row < table.offsets[p + 1]; ++row) total += table.counts[to_size(row)];
      totals_.push_back(total);
    }
    by_target_.resize(table.targets.size());
    std::iota(by_target_.begin(), by_target_.end(), 0u);
    for (std::size_t p = 0; p + 1 < table.offsets.size(); ++p)
      std::sort(by_target_.begin() + table.offsets[p], by_target_.begin() + table.offsets[p + 1],
                [&](std::uint32_t a, std::uint32_t b) { return table.targets[a] < table.targets[b]; });
  }

  const BlockTableView& table() const { return table_; }
  std::uint32_t source(std::span<const WordId> words) const { return number(sources_.find(hash_words(words))); }
  std::uint32_t target(std::span<const WordId> words) const { return number(targets_.find(hash_words(words))); }
  // The pairs of a source phrase; none if it is unknown.
  struct Rows {
    std::uint32_t first, last;
  };
  Rows rows(std::uint32_t source) const {
    if (source >= totals_.size()) return {0, 0};
    return {static_cast<std::uint32_t>(table_.offsets[source]), static_cast<std::uint32_t>(table_.offsets[source + 1])};
  }
  // How many of its most frequent pairs are candidates: at most `max_targets`, where 0 means all.
  std::uint32_t n_candidates(std::uint32_t source, std::size_t max_targets) const {
    const auto [first, last] = rows(source);
    return max_targets == 0 ? last - first : std::min(last - first, static_cast<std::uint32_t>(max_targets));
  }
  // The count of the source phrase.
  double total(std::uint32_t source) const { return source == kNone32 ? 0 : totals_[source]; }
  std::uint32_t pair(std::uint32_t source, std::uint32_t target) const {
    const auto [first, last] = rows(source);
    const auto own = std::span(by_target_).subspan(first, last - first);
    const auto found = std::ranges::lower_bound(own, target, {}, [&](std::uint32_t row) { return table_.targets[row]; });
    return found != own.end() && table_.targets[*found] == target ? *found : kNone32;
  }

 private:
  static std::uint32_t number(std::int32_t index) { return index < 0 ? kNone32 : static_cast<std::uint32_t>(index); }
  BlockTableView table_;
  KeyIndex sources_, targets_;
  std::vector<double> totals_;
  std::vector<std::uint32_t> by_target_;  // the pairs of each source phrase, by target
};

}  // namespace hyperbaton
