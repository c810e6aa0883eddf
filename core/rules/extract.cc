#include "rules/extract.hh"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <mutex>
#include <string>

#include "base/errors.hh"
#include "base/numbers.hh"
#include "phrases/extract.hh"

namespace hyperbaton {

namespace {

constexpr std::size_t kSentencesAtOnce = 256;

// Writes the rules of a sentence pair as symbols.
class RuleBuilder {
 public:
  explicit RuleBuilder(GapSymbols gaps) : gap_symbols_(gaps) {}

  void reset(std::span<const WordId> source, std::span<const WordId> target, std::span<const Link> links) {
    source_ = source;
    target_ = target;
    by_target_.assign(links.begin(), links.end());
    std::ranges::sort(by_target_, {}, [](Link link) { return std::pair(link.target, link.source); });
    first_link_.assign(target.size() + 1, by_target_.size());
    for (std::size_t k = by_target_.size(); k-- > 0;) first_link_[by_target_[k].target] = k;
    for (std::size_t j = target.size(); j-- > 0;) first_link_[j] = std::min(first_link_[j], first_link_[j + 1]);
    places_.resize(source.size());
  }

  std::span<const WordId> source(const PhrasePair& phrase, std::span<const PhrasePair> gaps) {
    source_symbols_.clear();
    std::size_t next = 0;
    for (int i = phrase.source.begin; i < phrase.source.end;) {
      const auto place = static_cast<std::uint8_t>(source_symbols_.size());
      if (next < gaps.size() && gaps[next].source.begin == i) {
        source_symbols_.push_back(gap_symbols_.source);
        i = gaps[next++].source.end;
      } else {
        places_[to_size(i)] = place;
        source_symbols_.push_back(source_[to_size(i++)]);
      }
    }
    return source_symbols_;
  }

  // Finish the whole rule; `source` must have been called before.
  RuleView rule(const PhrasePair& phrase, std::span<const PhrasePair> gaps) {
    target_symbols_.clear();
    links_.clear();
    for (int j = phrase.target.begin; j < phrase.target.end;) {
      const auto gap = std::ranges::find(gaps, j, [](const PhrasePair& pair) { return pair.target.begin; });
      const auto place = static_cast<std::uint8_t>(target_symbols_.size());
      if (gap != gaps.end()) {
        target_symbols_.push_back(gap_symbols_.first_target + static_cast<WordId>(gap - gaps.begin()));
        j = gap->target.end;
        continue;
      }
      const auto word = to_size(j++);
      for (std::size_t k = first_link_[word]; k < first_link_[word + 1]; ++k)
        links_.push_back({places_[by_target_[k].source], place});
      target_symbols_.push_back(target_[word]);
    }
    return {.source = source_symbols_, .target = target_symbols_, .links = links_};
  }

 private:
  GapSymbols gap_symbols_;
  std::span<const WordId> source_, target_;
  std::vector<Link> by_target_;
  std::vector<std::size_t> first_link_;  // of each target word
  std::vector<std::uint8_t> places_;     // of source words in the rule
  std::vector<WordId> source_symbols_, target_symbols_;
  std::vector<InnerLink> links_;
};

// Calls on_rule(builder, phrase, gaps, count) for the rules of sentence pairs.
class RuleWalk {
 public:
  RuleWalk(const AlignedText& text, const RuleLimits& limits, GapSymbols gaps)
      : text_(text), limits_(limits), builder_(gaps) {}

  template <class OnRule>
  void sentence(std::size_t s, const OnRule& on_rule) {
    const auto source = text_.source[s], target = text_.target[s];
    const auto links = text_.links[s];
    builder_.reset(source, target, links);
    rules_.for_each(static_cast<int>(source.size()), static_cast<int>(target.size()), links, limits_,
                    [&](const PhrasePair& phrase, std::span<const PhrasePair> gaps, float count) {
                      on_rule(builder_, phrase, gaps, count);
                    });
  }

 private:
  const AlignedText& text_;
  const RuleLimits& limits_;
  RuleBuilder builder_;
  SentenceRules rules_;
};

// Counts the rules of one sentence pair, merging equal ones.
class SentenceCounts {
 public:
  void clear() {
    keys_.clear();
    rules_.clear();
    slots_.assign(slots_.size() > 4 * kSlots ? kSlots : slots_.size(), 0);
  }
  // Where the key of the next rule is to be written, after the others.
  Bytes& keys() { return keys_; }
  // Count the rule whose key was just written, from `begin` on.
  void add(std::size_t begin, float count) {
    const auto key = BytesView(keys_).subspan(begin);
    const auto hash = hash_bytes({reinterpret_cast<const char*>(key.data()), key.size()});
    auto& slot = find(key, hash);
    if (slot != 0) {
      rules_[slot - 1].count += count;
      keys_.resize(begin);
      return;
    }
    rules_.push_back({.begin = begin, .size = key.size(), .hash = hash, .count = count});
    slot = static_cast<std::uint32_t>(rules_.size());
    if (2 * rules_.size() > slots_.size()) grow();
  }
  template <class OnRule>
  void for_each(const OnRule& on_rule) const {
    for (const auto& rule : rules_) on_rule(BytesView(keys_).subspan(rule.begin, rule.size), rule.count);
  }

 private:
  struct Rule {
    std::size_t begin, size;
    std::uint64_t hash;
    float count;
  };
  std::uint32_t& find(BytesView key, std::uint64_t hash) {
    const auto mask = slots_.size() - 1;
    std::size_t at = hash & mask;
    for (; slots_[at] != 0; at = (at + 1) & mask) {
      const auto& rule = rules_[slots_[at] - 1];
      if (rule.hash == hash && std::ranges::equal(key, BytesView(keys_).subspan(rule.begin, rule.size))) break;
    }
    return slots_[at];
  }
  void grow() {
    slots_.assign(2 * slots_.size(), 0);
    const auto mask = slots_.size() - 1;
    for (std::size_t k = 0; k < rules_.size(); ++k) {
      std::size_t at = rules_[k].hash & mask;
      while (slots_[at] != 0) at = (at + 1) & mask;
      slots_[at] = static_cast<std::uint32_t>(k + 1);
    }
  }
  static constexpr std::size_t kSlots = 1 << 12;
  Bytes keys_;
  std::vector<Rule> rules_;
  std::vector<std::uint32_t> slots_ = std::vector<std::uint32_t>(kSlots);
};

// Counts are mostly 1, 1/2, 1/3 …: their six-digit values are cached.
class SixDigits {
 public:
  float operator()(float count) {
    const auto bits = std::bit_cast<std::uint32_t>(count);
    auto& entry = entries_[mix(bits) % entries_.size()];
    if (entry.count != count) entry = {count, round_six_digits(count)};
    return entry.rounded;
  }

 private:
  struct Entry {
    float count = 0, rounded = 0;
  };
  std::array<Entry, 1024> entries_;
};

// Keys in any order, to be written as a run.
class RunBuilder {
 public:
  Bytes& keys() { return keys_; }
  void close(std::size_t begin) {
    const auto size = keys_.size() - begin;
    entries_.push_back({.prefix = prefix_of(BytesView(keys_).subspan(begin)), .begin = begin, .size = size});
  }
  Bytes finish(const RuleCodec& codec) {
    std::ranges::sort(entries_, [&](const Entry& a, const Entry& b) {
      return a.prefix != b.prefix ? a.prefix < b.prefix : compare_keys(key(a), key(b)) < 0;
    });
    RunWriter writer(codec);
    for (std::size_t k = 0; k < entries_.size();) {
      const auto first = key(entries_[k]);
      std::uint64_t n = 0;
      while (k < entries_.size() && std::ranges::equal(key(entries_[k]), first)) ++k, ++n;
      writer.add(first, n);
    }
    return writer.take();
  }

 private:
  struct Entry {
    KeyPrefix prefix;
    std::size_t begin, size;
  };
  BytesView key(const Entry& entry) const { return BytesView(keys_).subspan(entry.begin, entry.size); }
  Bytes keys_;
  std::vector<Entry> entries_;
};

void check(const AlignedText& text, const RuleLimits& limits) {
  const auto n = text.source.offsets.size();
  if (text.target.offsets.size() != n || text.links.offsets.size() != n)
    throw Error("texts and links have different numbers of sentence pairs");
  if (limits.max_span < 1 || limits.max_span > kMaxPhraseLength)
    throw Error("the maximum span must be from 1 to " + std::to_string(kMaxPhraseLength));
  if (limits.max_gaps < 0 || limits.max_gaps > static_cast<int>(kMaxGaps)) throw Error("rules have at most two gaps");
}

// A set that several threads fill, each its own part.
class SharedSet {
 public:
  void add(const HashSet& set) {
    const std::lock_guard lock(mutex_);
    set_.add(set);
  }
  HashSet take() { return std::move(set_); }

 private:
  std::mutex mutex_;
  HashSet set_;
};

// Finds the source sides of rules that match one sentence.
class Matcher {
 public:
  Matcher(std::span<const WordId> sentence, const RuleLimits& limits, int max_span, WordId gap, HashSet& found)
      : sentence_(sentence), limits_(limits), max_span_(to_size(max_span)), gap_(gap), found_(found) {}

  void run() {
    for (begin_ = 0; begin_ < sentence_.size(); ++begin_) extend(begin_, 0, false);
  }

 private:
  // Add a symbol that begins at `at`: a word, or a gap of any length.
  void extend(std::size_t at, int n_gaps, bool after_gap) {
    if (static_cast<int>(symbols_.size()) == limits_.max_symbols) return;
    const auto limit = std::min(sentence_.size(), begin_ + max_span_);
    if (at >= limit) return;
    if (sentence_[at] != kUnknownWord) {
      symbols_.push_back(sentence_[at]);
      found_.add(hash_symbols(symbols_));
      extend(at + 1, n_gaps, false);
      symbols_.pop_back();
    }
    if (n_gaps == limits_.max_gaps || after_gap) return;
    symbols_.push_back(gap_);
    if (symbols_.size() > 1) found_.add(hash_symbols(symbols_));
    for (auto end = at + 1; end < limit; ++end) extend(end, n_gaps + 1, true);
    symbols_.pop_back();
  }

  std::span<const WordId> sentence_;
  const RuleLimits& limits_;
  std::size_t max_span_, begin_ = 0;
  WordId gap_;
  HashSet& found_;
  std::vector<WordId> symbols_;
};

}  // namespace

HashSet matching_sources(TokensView text, const RuleLimits& limits, int max_span, WordId gap, unsigned n_threads,
                         const Progress& progress) {
  SharedSet all;
  parallel_chunks(text.offsets.size() - 1, kSentencesAtOnce, n_threads, progress, [&](std::size_t begin, std::size_t end) {
    HashSet found;
    for (std::size_t s = begin; s < end; ++s) Matcher(text[s], limits, max_span, gap, found).run();
    all.add(found);
  });
  return all.take();
}

std::uint64_t hash_target(std::span<const WordId> target, GapSymbols gaps) {
  std::uint64_t hash = target.size();
  for (const auto symbol : target) hash = combine(hash, gaps.is_target(symbol) ? gaps.first_target : symbol);
  return hash;
}

HashSet targets_of_sources(const AlignedText& text, SentenceRange range, const RuleLimits& limits, GapSymbols gaps,
                           const HashSet& sources, unsigned n_threads, const Progress& progress) {
  check(text, limits);
  if (range.first > range.last || range.last >= text.source.offsets.size()) throw Error("there are no such sentence pairs");
  SharedSet all;
  parallel_chunks(
      range.last - range.first, 4 * kSentencesAtOnce, n_threads, progress, [&](std::size_t begin, std::size_t end) {
        HashSet found;
        RuleWalk walk(text, limits, gaps);
        for (std::size_t s = range.first + begin; s < range.first + end; ++s)
          walk.sentence(s, [&](RuleBuilder& builder, const PhrasePair& phrase, std::span<const PhrasePair> inside, float) {
            if (sources.contains(hash_symbols(builder.source(phrase, inside))))
              found.add(hash_target(builder.rule(phrase, inside).target, gaps));
          });
        all.add(found);
      });
  return all.take();
}

std::vector<Bytes> extract_rules(const AlignedText& text, std::span<const std::int64_t> bounds, const RuleLimits& limits,
                                 const RuleSymbols& symbols, const HashSet* targets, unsigned n_threads,
                                 const Progress& progress) {
  check(text, limits);
  const RuleCodec codec(symbols);
  const auto gaps = symbols.gaps;
  if (bounds.empty()) throw Error("there are no sentence pairs to extract rules from");
  std::vector<Bytes> runs(bounds.size() - 1);
  parallel_chunks(runs.size(), 1, n_threads, progress, [&](std::size_t k, std::size_t, Poll& poll) {
    RuleWalk walk(text, limits, gaps);
    SentenceCounts counts;
    SixDigits six_digits;
    RunBuilder run;
    for (auto s = to_size(bounds[k]); s < to_size(bounds[k + 1]); ++s) {
      poll.check();
      counts.clear();
      walk.sentence(s,
                    [&](RuleBuilder& builder, const PhrasePair& phrase, std::span<const PhrasePair> inside, float count) {
                      builder.source(phrase, inside);
                      const auto rule = builder.rule(phrase, inside);
                      if (targets && !targets->contains(hash_target(rule.target, gaps))) return;
                      const auto begin = counts.keys().size();
                      codec.encode(rule, counts.keys());
                      counts.add(begin, count);
                    });
      counts.for_each([&](BytesView key, float count) {
        const auto begin = run.keys().size();
        run.keys().insert(run.keys().end(), key.begin(), key.end());
        codec.encode_count(six_digits(count), run.keys());
        run.close(begin);
      });
    }
    runs[k] = run.finish(codec);
  });
  return runs;
}

}  // namespace hyperbaton
