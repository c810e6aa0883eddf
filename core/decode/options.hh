// Translation options: phrase pairs of the table that match spans of sentences.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/parallel.hh"
#include "base/size.hh"
#include "corpus/text.hh"
#include "lm/ngram_model.hh"
#include "phrases/pair_scores.hh"
#include "phrases/phrase_finder.hh"
#include "phrases/score.hh"

namespace hyperbaton {

// A language model with its weight, its numbers of the table's target words, and those of the words after them, which only
// the request has.
struct WeightedLm {
  NgramModel model;
  float weight;
  std::span<const std::uint32_t> words, new_words;
  std::size_t n_values() const { return 1; }
  std::uint32_t number(WordId word) const {
    const auto number = word < words.size() ? words[word] : new_words[word - words.size()];
    if (number >= model.n_words()) throw_damaged("a word is not in the language model");
    return number;
  }
};

// Names of the option's own features, in column order: the scores of the table come first, all under one name, then the
// others.
inline constexpr std::string_view kTableFeature = "TranslationModel0";
inline constexpr std::array<std::string_view, 3> kOwnFeatureNames{"WordPenalty0", "PhrasePenalty0", "UnknownWordPenalty0"};
inline constexpr std::size_t kOwnFeatures = kOwnFeatureNames.size();
inline constexpr float kLogFloor = -100.0F;

// A phrase pair with its weighted score, and with the language models' estimate added.
struct RankedPair {
  std::int64_t pair;
  float score, estimate;
};

// A translation required by the user for a span; no other option may overlap it.
struct Demand {
  std::uint32_t sentence;
  std::uint16_t begin, end;
};
struct Demands {
  std::span<const Demand> spans;          // by sentence
  std::span<const std::int64_t> offsets;  // target words of demand i: words[offsets[i] .. offsets[i+1])
  std::span<const WordId> words;
};

// Required output: target words by sentence; no offsets if nothing is forced.
struct ForcedView {
  std::span<const WordId> words;
  std::span<const std::int64_t> offsets;
  bool any() const { return !offsets.empty(); }
  std::span<const WordId> operator[](std::size_t s) const { return valid_slice(words, offsets, s); }
};

struct LookupInput {
  TokensView source;               // numbers in the table's source vocabulary, kUnknownWord if not in it
  std::span<const WordId> copies;  // for each token, the target word used when it is passed through
  PairsView table;
  std::size_t n_target_words;  // of the table's vocabulary
  PairScores scores;
  PhraseFinder finder;
  std::span<const WeightedLm> lms;
  std::span<const float> weights;  // of the table's scores and own features
  Demands demands;
  ForcedView forced;  // options that cannot be part of these are left out
};

struct LookupSettings {
  std::size_t table_limit;  // options of a source phrase; 0 means all
  int max_length;           // length of the longest source phrase of the table
  bool drop_unknown;        // leave unknown words out instead of copying them
  unsigned n_threads;
};

inline constexpr std::int64_t kUnknownPair = -1, kDemandedPair = -2;

// Options as columns, by sentence, source begin, source end, and decreasing estimate.
struct TranslationOptions {
  std::vector<std::int64_t> offsets;  // options of sentence s are [offsets[s], offsets[s+1])
  std::vector<std::uint32_t> sentence;
  std::vector<std::uint16_t> begin;
  std::vector<std::uint8_t> length;
  std::vector<std::int64_t> pair;  // of the table, or kUnknownPair, kDemandedPair
  std::vector<std::int64_t> target_offsets;
  std::vector<WordId> target_words;
  std::vector<std::int64_t> link_offsets;
  std::vector<Link> links;      // positions inside the phrases, by source, then target
  std::vector<float> features;  // the table's scores and the own features
  std::size_t n_features;
  std::vector<float> score;     // weighted features
  std::vector<float> estimate;  // weighted features plus the language models' scores inside the phrase

  std::size_t size() const { return pair.size(); }
  std::span<const WordId> target(std::size_t option) const { return valid_slice(target_words, target_offsets, option); }
  std::span<const Link> links_of(std::size_t option) const { return valid_slice(links, link_offsets, option); }
};

// A cache of what was ranked for frequent source phrases, some of which have thousands of pairs, kept from sentence to
// sentence. A cache is valid for one table, one set of models and weights, and one limit; it is thread-safe.
template <class Ranked>
class RankCache {
 public:
  std::shared_ptr<const Ranked> find(std::uint32_t phrase) const {
    const std::shared_lock lock(mutex_);
    const auto found = ranked_.find(phrase);
    return found == ranked_.end() ? nullptr : found->second;
  }
  void add(std::uint32_t phrase, std::shared_ptr<const Ranked> ranked, std::size_t n_bytes) {
    const std::unique_lock lock(mutex_);
    if (n_bytes_ + n_bytes <= kMostBytes && ranked_.emplace(phrase, std::move(ranked)).second) n_bytes_ += n_bytes;
  }

 private:
  static constexpr std::size_t kMostBytes = std::size_t{1} << 26;
  mutable std::shared_mutex mutex_;
  std::unordered_map<std::uint32_t, std::shared_ptr<const Ranked>> ranked_;
  std::size_t n_bytes_ = 0;
};
using RankedPairs = std::vector<RankedPair>;

// Of source phrases, the options of a span with the phrase: without places.
using OptionCache = RankCache<TranslationOptions>;
// Of source sides of rules.
using RuleCache = RankCache<RankedPairs>;

// For each pair of a table, whether the look-up can take it: whether it is among the best of its source phrase, as many as
// the table limit allows. Of the input, the sentences are not used. `make_ranker()` returns an object with `rank(phrase)`.
template <class MakeRanker>
std::vector<std::uint8_t> mark_best(const PairsView& table, const LookupSettings& settings, const Progress& progress,
                                    const MakeRanker& make_ranker) {
  std::vector<std::uint8_t> best(table.targets.size());
  parallel_chunks(table.source.size(), 1 << 12, settings.n_threads, progress, [&](std::size_t begin, std::size_t end) {
    auto ranker = make_ranker();
    for (std::size_t phrase = begin; phrase < end; ++phrase) {
      const auto pairs = table.pairs_of(phrase);
      if (settings.table_limit == 0 || pairs.size() <= settings.table_limit) {
        std::fill_n(best.data() + pairs.first, pairs.size(), std::uint8_t{1});
        continue;
      }
      const auto ranked = ranker.rank(static_cast<std::uint32_t>(phrase));
      for (const auto& row : ranked) best[to_size(row.pair)] = 1;
    }
  });
  return best;
}
std::vector<std::uint8_t> best_pairs(const LookupInput& input, const LookupSettings& settings, const Progress& progress);

TranslationOptions find_options(const LookupInput& input, const LookupSettings& settings, OptionCache& cache);

}  // namespace hyperbaton
