// Lexical weights of single phrase pairs, for loops over many of them.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "base/hash.hh"
#include "phrases/score.hh"

namespace hyperbaton {

// A cache of recent word pair probabilities: neighbouring phrases share words.
class RecentWordPairs {
 public:
  explicit RecentWordPairs(const LexicalTable& lexical) : lexical_(lexical), entries_(kEntries) {}
  // Like LexicalTable::find; the result is valid until the next call.
  const double* find(WordId source, WordId target) {
    const auto key = static_cast<std::uint64_t>(source) << 32 | target;
    auto& entry = entries_[mix(key) % kEntries];
    if (entry.state == State::Free || entry.key != key) {
      entry.key = key;
      const double* both = lexical_.find(source, target);
      entry.state = both ? State::Known : State::Unknown;
      if (both) entry.probabilities = {both[0], both[1]};
    }
    return entry.state == State::Known ? entry.probabilities.data() : nullptr;
  }

 private:
  static constexpr std::size_t kEntries = 4096;  // 128 KiB
  enum class State : std::uint8_t { Free, Known, Unknown };
  struct Entry {
    std::uint64_t key = 0;
    std::array<double, 2> probabilities{};
    State state = State::Free;
  };
  const LexicalTable& lexical_;
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
      const double* both = recent_.find(src[link.source], tgt[link.target]);
      target_sums_[link.target].value += both ? both[0] : 0;
      source_sums_[link.source].value += both ? both[1] : 0;
      ++target_sums_[link.target].n;
      ++source_sums_[link.source].n;
    }
    LexicalWeights weights{1, 1};
    for (std::size_t j = 0; j < tgt.size(); ++j) {
      const auto [value, n] = target_sums_[j];
      const double* empty = n ? nullptr : recent_.find(no_source_, tgt[j]);
      weights.target_given_source *= n ? value / n : empty ? empty[0] : 1;
    }
    for (std::size_t i = 0; i < src.size(); ++i) {
      const auto [value, n] = source_sums_[i];
      const double* empty = n ? nullptr : recent_.find(src[i], no_target_);
      weights.source_given_target *= n ? value / n : empty ? empty[1] : 1;
    }
    return weights;
  }

 private:
  struct Sum {
    double value = 0;
    int n = 0;
  };
  RecentWordPairs recent_;
  WordId no_source_, no_target_;
  std::vector<Sum> source_sums_, target_sums_;
};

}  // namespace hyperbaton
