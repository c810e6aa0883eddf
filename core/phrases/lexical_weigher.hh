// Lexical weights of single phrase pairs, for loops over many of them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/hash.hh"
#include "phrases/score.hh"

namespace hyperbaton {

// A cache of recent word pair probabilities: neighbouring phrases share words.
class RecentWordPairs {
 public:
  explicit RecentWordPairs(const LexicalTable& lexical)
      : lexical_(lexical), entries_(kEntries, Entry{0, lexical.find(0, 0)}) {}  // all have a key, so none is free
  const std::optional<std::array<double, 2>>& find(WordId source, WordId target) {
    const auto key = static_cast<std::uint64_t>(source) << 32 | target;
    auto& entry = entries_[mix(key) % kEntries];
    if (entry.key != key) entry = {key, lexical_.find(source, target)};
    return entry.probabilities;
  }

 private:
  static constexpr std::size_t kEntries = 4096;  // 128 KiB
  struct Entry {
    std::uint64_t key = 0;
    std::optional<std::array<double, 2>> probabilities;
  };
  LexicalTable lexical_;
  std::vector<Entry> entries_;
};

// Computes lexical weights of phrase pairs.
class LexicalWeigher {
 public:
  explicit LexicalWeigher(const LexicalTable& lexical)
      : recent_(lexical),
        no_source_(static_cast<WordId>(lexical.sizes.source)),
        no_target_(static_cast<WordId>(lexical.sizes.target)) {}

  LexicalWeights operator()(std::span<const WordId> src, std::span<const WordId> tgt, std::span<const InnerLink> links) {
    source_sums_.assign(src.size(), {});
    target_sums_.assign(tgt.size(), {});
    for (const auto link : links) {
      if (link.source >= src.size() || link.target >= tgt.size()) [[unlikely]]
        throw_damaged("a phrase pair has a link that is out of range");
      const auto& both = recent_.find(src[link.source], tgt[link.target]);
      target_sums_[link.target].value += both ? (*both)[0] : 0;
      source_sums_[link.source].value += both ? (*both)[1] : 0;
      ++target_sums_[link.target].n;
      ++source_sums_[link.source].n;
    }
    LexicalWeights weights{1, 1};
    for (std::size_t j = 0; j < tgt.size(); ++j) {
      const auto [value, n] = target_sums_[j];
      weights.target_given_source *= n ? value / n : recent_.find(no_source_, tgt[j]).value_or(kOne)[0];
    }
    for (std::size_t i = 0; i < src.size(); ++i) {
      const auto [value, n] = source_sums_[i];
      weights.source_given_target *= n ? value / n : recent_.find(src[i], no_target_).value_or(kOne)[1];
    }
    return weights;
  }

 private:
  struct Sum {
    double value = 0;
    int n = 0;
  };
  static constexpr std::array<double, 2> kOne{1, 1};
  RecentWordPairs recent_;
  WordId no_source_, no_target_;
  std::vector<Sum> source_sums_, target_sums_;
};

}  // namespace hyperbaton
