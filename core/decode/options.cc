#include "decode/options.hh"

#include <algorithm>
#include <cmath>

#include "base/columns.hh"
#include "base/math.hh"
#include "base/size.hh"
#include "phrases/extract.hh"

namespace hyperbaton {

namespace {

// The score of a phrase without history.
float estimate_inside(std::span<const WeightedLm> lms, std::span<const WordId> target) {
  float sum = 0;
  for (const auto& lm : lms) {
    LmState states[2] = {lm.model.null_state(), {}};
    int now = 0;
    for (const auto word : target) {
      sum += lm.weight * lm.model.score(states[now], lm.number(word), states[1 - now]);
      now = 1 - now;
    }
  }
  return sum;
}

// Source phrases with more pairs than this are cached.
constexpr std::size_t kMany = 4;

// Options without places.
using Options = TranslationOptions;
Options no_options(std::size_t n_features) {
  Options options;
  options.n_features = n_features;
  options.target_offsets.push_back(0);
  options.link_offsets.push_back(0);
  return options;
}
std::size_t n_bytes(const Options& options) {
  return sizeof options + options.target_words.size() * sizeof(WordId) + options.links.size() * sizeof(Link) +
         options.features.size() * sizeof(float) + options.size() * (3 * sizeof(std::int64_t) + 2 * sizeof(float));
}
void append_options(Options& all, const Options& part) {
  append_columns<&Options::pair, &Options::target_words, &Options::links, &Options::features, &Options::score,
                 &Options::estimate>(all, part);
  append_offsets<&Options::target_offsets, &Options::link_offsets>(all, part);
}

// Collects the options of some sentences.
class Collector {
 public:
  Collector(const LookupInput& input, const LookupSettings& settings, OptionCache* cache)
      : input_(input),
        settings_(settings),
        cache_(cache),
        options_(no_options(input.scores.n() + kOwnFeatures)),
        scores_(input.scores, input.table) {}

  void add_sentence(std::size_t s) {
    const auto words = input_.source[s];
    const auto [first_demand, last_demand] = std::ranges::equal_range(input_.demands.spans, s, {}, &Demand::sentence);
    const std::span<const Demand> demands(first_demand, last_demand);
    const auto n = static_cast<int>(words.size());
    for (int begin = 0; begin < n; ++begin) {
      auto phrases = input_.finder.all();
      for (int end = begin + 1; end <= std::min(n, begin + std::clamp(settings_.max_length, 1, kMaxPhraseLength)); ++end) {
        if (std::ranges::any_of(demands, [&](const Demand& d) { return d.begin < end && begin < d.end; })) break;
        const auto length = to_size(end - begin);
        phrases = input_.finder.narrow(phrases, length - 1, words[to_size(end) - 1]);
        const auto number = input_.finder.ending(phrases, length);
        const bool any = number != kNoPhrase && add_phrase(s, {begin, end}, number);
        if (!any && end == begin + 1) add_unknown(s, begin);
        if (phrases.size() == 0) break;
      }
      for (const auto& demand : demands)
        if (demand.begin == begin) add_demand(s, demand);
    }
  }

  TranslationOptions take() { return std::move(options_); }

  // The best pairs of a phrase for a sentence, as many as the table limit allows.
  RankedPairs rank(std::size_t s, std::uint32_t phrase) {
    const auto pairs = input_.table.pairs_of(phrase);
    values_.clear();
    first_ranked_ = static_cast<std::int64_t>(pairs.first);
    RankedPairs ranked;
    const auto n_scores = static_cast<std::ptrdiff_t>(input_.scores.n());
    for (auto pair = first_ranked_; pair < static_cast<std::int64_t>(pairs.last); ++pair) {
      if (!possible(s, pair)) continue;
      const auto target = target_of(pair);
      fill_features(phrase, pair, target.size());
      if (!input_.forced.any()) values_.insert(values_.end(), features_.begin(), features_.begin() + n_scores);
      const float score = weighted(features_);
      ranked.push_back({pair, score, score + estimate_inside(input_.lms, target)});
    }
    // Ties keep the order of the table.
    std::ranges::stable_sort(ranked, std::greater<>(), &RankedPair::estimate);
    if (settings_.table_limit > 0 && ranked.size() > settings_.table_limit) ranked.resize(settings_.table_limit);
    return ranked;
  }

 private:
  float weighted(std::span<const float> features) const {
    float sum = 0;
    for (std::size_t i = 0; i < features.size(); ++i) sum += features[i] * input_.weights[i];
    return sum;
  }

  // Valid until the next call.
  std::span<const WordId> target_of(std::int64_t pair) const {
    const auto words = input_.table.target.read(input_.table.targets[to_size(pair)], room_);
    if (words.size() > kMaxPhraseLength) throw_damaged("a target phrase is too long");
    for (const auto word : words)
      if (word >= input_.n_target_words) throw_damaged("a target phrase has a word that is not in the vocabulary");
    return words;
  }

  // The features of a pair of the table and its source phrase, or of another kind of option.
  void fill_features(std::uint32_t phrase, std::int64_t pair, std::size_t n_target) {
    features_.assign(options_.n_features, 0.0F);
    const auto n_scores = input_.scores.n();
    if (const auto known = ranked_values(pair); !known.empty()) {
      std::ranges::copy(known, features_.begin());
    } else if (pair >= 0) {
      const auto row = to_size(pair);
      scores_.copy({row, phrase, input_.table.targets[row]}, features_.data());
      // Scores of a damaged file may be NaN, which becomes the floor: the order of the arguments matters.
      for (auto& value : std::span(features_).first(n_scores))
        value = std::min(std::max(kLogFloor, static_cast<float>(math::log(value))), -kLogFloor);
    }
    features_[n_scores] = -static_cast<float>(n_target);
    features_[n_scores + 1] = 1;
    features_[n_scores + 2] = pair == kUnknownPair ? kLogFloor : 0;
  }

  // The table's features of a pair of the phrase that was ranked last; none if its ranking was cached.
  std::span<const float> ranked_values(std::int64_t pair) const {
    const auto n_scores = input_.scores.n();
    if (pair < first_ranked_) return {};
    const auto at = to_size(pair - first_ranked_) * n_scores;
    return at < values_.size() ? std::span(values_).subspan(at, n_scores) : std::span<const float>();
  }

  // Whether a target phrase occurs in the forced translation.
  bool possible(std::size_t s, std::int64_t pair) const {
    return !input_.forced.any() || !std::ranges::search(input_.forced[s], target_of(pair)).empty() ||
           target_of(pair).empty();
  }

  bool add_phrase(std::size_t s, SourceSpan span, std::uint32_t phrase) {
    const auto n = input_.table.pairs_of(phrase).size();
    if (n > kMany && !input_.forced.any()) {
      auto known = cache_->find(phrase);
      if (!known) {
        Options options = no_options(options_.n_features);
        add_pairs(s, phrase, options);
        known = std::make_shared<const Options>(std::move(options));
        cache_->add(phrase, known, n_bytes(*known));
      }
      append_options(options_, *known);
    } else {
      add_pairs(s, phrase, options_);
    }
    place(s, span);
    return n > 0;
  }

  void add_pairs(std::size_t s, std::uint32_t phrase, Options& options) {
    const auto n_source = input_.table.source.length(phrase);
    for (const auto& row : rank(s, phrase)) {
      const auto first = static_cast<std::ptrdiff_t>(options.links.size());
      const auto target = target_of(row.pair);
      for (const auto link : input_.table.links_of(to_size(row.pair))) {
        if (link.source >= n_source || link.target >= target.size())
          throw_damaged("a phrase pair has a link that is out of range");
        options.links.push_back({link.source, link.target});
      }
      // Tables of other programs may list links in any order.
      std::sort(options.links.begin() + first, options.links.end(),
                [](Link a, Link b) { return a.source != b.source ? a.source < b.source : a.target < b.target; });
      add(options, phrase, row, target);
    }
  }

  void add_unknown(std::size_t s, int position) {
    const auto at = to_size(input_.source.offsets[s] + position);
    const auto copy = settings_.drop_unknown ? std::span<const WordId>() : input_.copies.subspan(at, 1);
    if (!copy.empty()) options_.links.push_back({0, 0});
    add_single(s, {position, position + 1}, kUnknownPair, copy);
  }

  void add_demand(std::size_t s, const Demand& demand) {
    const auto i = to_size(&demand - input_.demands.spans.data());
    const auto from = to_size(input_.demands.offsets[i]);
    const auto words = input_.demands.words.subspan(from, to_size(input_.demands.offsets[i + 1]) - from);
    // The word alignment is unknown: all words of the span are linked to the first target word.
    if (!words.empty())
      for (int w = demand.begin; w < demand.end; ++w)
        options_.links.push_back({static_cast<std::uint16_t>(w - demand.begin), 0});
    add_single(s, {demand.begin, demand.end}, kDemandedPair, words);
  }

  void add_single(std::size_t s, SourceSpan span, std::int64_t pair, std::span<const WordId> target) {
    fill_features(kNoPhrase, pair, target.size());
    const float score = weighted(features_);
    add(options_, kNoPhrase, {pair, score, score + estimate_inside(input_.lms, target)}, target);
    place(s, span);
  }

  void add(Options& options, std::uint32_t phrase, const RankedPair& row, std::span<const WordId> target) {
    fill_features(phrase, row.pair, target.size());
    options.pair.push_back(row.pair);
    options.target_words.insert(options.target_words.end(), target.begin(), target.end());
    options.target_offsets.push_back(static_cast<std::int64_t>(options.target_words.size()));
    options.link_offsets.push_back(static_cast<std::int64_t>(options.links.size()));
    options.features.insert(options.features.end(), features_.begin(), features_.end());
    options.score.push_back(row.score);
    options.estimate.push_back(row.estimate);
  }
  // Set the place of the options that have none.
  void place(std::size_t s, SourceSpan span) {
    const auto n = options_.size();
    options_.sentence.resize(n, static_cast<std::uint32_t>(s));
    options_.begin.resize(n, static_cast<std::uint16_t>(span.begin));
    options_.length.resize(n, static_cast<std::uint8_t>(span.end - span.begin));
  }

  const LookupInput& input_;
  const LookupSettings& settings_;
  OptionCache* cache_;
  Options options_;
  PairScoreReader scores_;
  std::vector<float> features_;
  mutable std::vector<WordId> room_;
  std::int64_t first_ranked_ = 0;  // the first pair of the phrase that was ranked last
  std::vector<float> values_;      // the table's features of its pairs
};

}  // namespace

std::vector<std::uint8_t> best_pairs(const LookupInput& input, const LookupSettings& settings, const Progress& progress) {
  struct Ranker {
    Collector collector;
    RankedPairs rank(std::uint32_t phrase) { return collector.rank(0, phrase); }
  };
  return mark_best(input.table, settings, progress, [&] { return Ranker{Collector(input, settings, nullptr)}; });
}

TranslationOptions find_options(const LookupInput& input, const LookupSettings& settings, OptionCache& cache) {
  const std::size_t n = input.source.offsets.size() - 1;
  std::vector<TranslationOptions> parts(n);
  const auto order = longest_first(input.source.offsets);
  parallel_chunks(n, 1, settings.n_threads, {}, [&](std::size_t at, std::size_t) {
    Collector collector(input, settings, &cache);
    collector.add_sentence(order[at]);
    parts[order[at]] = collector.take();
  });
  auto all = no_options(input.scores.n() + kOwnFeatures);
  all.offsets.push_back(0);
  for (auto& part : parts) {
    append_columns<&Options::sentence, &Options::begin, &Options::length>(all, part);
    append_options(all, part);
    all.offsets.push_back(static_cast<std::int64_t>(all.sentence.size()));
    part = Options{};
  }
  return all;
}

}  // namespace hyperbaton
