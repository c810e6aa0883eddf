#include "rules/merge.hh"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <numeric>
#include <string>

#include "base/errors.hh"
#include "base/heap.hh"
#include "base/numbers.hh"
#include "phrases/lexical_weigher.hh"

namespace hyperbaton {

namespace {

constexpr std::size_t kRulesAtOnce = 1 << 12;

// Links and a count with which a rule was seen.
struct Item {
  std::size_t first_link, n_links;
  float count;
  std::uint64_t n;  // times
};

// Add a count n times, as Moses does line by line.
void add_times(float& sum, float count, std::uint64_t n) {
  for (; n > 0; --n) sum += count;
}

std::string count_text(float count) {
  char text[kMaxSixDigits];
  return {text, write_six_digits(text, count)};
}

// The side by which a file of rules is sorted.
enum class SortedBy : std::uint8_t { Source, Target };

// The links of a rule as in a file, those of words before those of gaps, with the rest of the line.
std::string links_text(std::span<const WordId> source, std::span<const WordId> target, std::span<const InnerLink> links,
                       GapSymbols gaps, SortedBy sorted) {
  std::string text;
  const auto add = [&](std::size_t s, std::size_t t) {
    if (sorted == SortedBy::Target) std::swap(s, t);
    text += std::to_string(s) + "-" + std::to_string(t) + " ";
  };
  for (const auto link : links) add(link.source, link.target);
  std::array<std::size_t, 2> places{};
  std::size_t n_gaps = 0;
  for (std::size_t i = 0; i < source.size() && n_gaps < places.size(); ++i)
    if (source[i] == gaps.source) places[n_gaps++] = i;
  for (std::size_t j = 0; j < target.size(); ++j)
    if (gaps.is_target(target[j])) add(places[(target[j] - gaps.first_target) % places.size()], j);
  return text + "|||";
}

// A rule with all links and counts with which it was seen.
struct SeenRule {
  std::span<const WordId> source, target;
  std::span<const Item> items;
  std::span<const InnerLink> links;  // of all items
  std::span<const InnerLink> links_of(const Item& item) const { return links.subspan(item.first_link, item.n_links); }
  std::string text(const Item& item, GapSymbols gaps, SortedBy sorted) const {
    return links_text(source, target, links_of(item), gaps, sorted);
  }
  // The links of its first line.
  std::string first_text(GapSymbols gaps, SortedBy sorted) const {
    auto first = text(items[0], gaps, sorted);
    for (const auto& item : items.subspan(1)) first = std::min(first, text(item, gaps, sorted));
    return first;
  }
};

// The sum of a rule's counts in the order of its lines.
float sum_counts(const SeenRule& rule, GapSymbols gaps, SortedBy sorted) {
  float sum = 0;
  if (rule.items.size() == 1) {
    add_times(sum, rule.items[0].count, rule.items[0].n);
    return sum;
  }
  struct Line {
    std::string links, count;
    const Item* item;
  };
  std::vector<Line> lines;
  for (const auto& item : rule.items)
    lines.push_back({.links = rule.text(item, gaps, sorted), .count = count_text(item.count), .item = &item});
  std::ranges::sort(lines,
                    [](const Line& a, const Line& b) { return std::tie(a.links, a.count) < std::tie(b.links, b.count); });
  for (const auto& line : lines) add_times(sum, line.item->count, line.item->n);
  return sum;
}

// The most frequent links of a rule; ties go to the greatest by the words of either side.
struct BestLinks {
  std::vector<InnerLink> by_target, by_source;
};
BestLinks best_links(const SeenRule& rule) {
  const auto same = [&](const Item& a, const Item& b) {
    return std::ranges::equal(rule.links_of(a), rule.links_of(b),
                              [](InnerLink x, InnerLink y) { return x.source == y.source && x.target == y.target; });
  };
  const auto sorted = [&](const Item& item, OrderBy order) {
    const auto links = rule.links_of(item);
    std::vector<InnerLink> copy(links.begin(), links.end());
    if (order == OrderBy::Source) std::ranges::sort(copy, {}, [](InnerLink x) { return std::pair(x.source, x.target); });
    return copy;
  };
  BestLinks best;
  float most = -1;
  for (std::size_t k = 0; k < rule.items.size();) {
    // Items with the same links are consecutive.
    const auto& first = rule.items[k];
    std::vector<std::pair<std::string, const Item*>> lines;
    for (; k < rule.items.size() && same(rule.items[k], first); ++k)
      lines.emplace_back(rule.items.size() > 1 ? count_text(rule.items[k].count) : "", &rule.items[k]);
    std::ranges::sort(lines);
    float sum = 0;
    for (const auto& [text, item] : lines) add_times(sum, item->count, item->n);
    if (sum < most) continue;
    auto by_target = sorted(first, OrderBy::Target), by_source = sorted(first, OrderBy::Source);
    if (sum > most || links_less(best.by_target, by_target, OrderBy::Target)) best.by_target = std::move(by_target);
    if (sum > most || links_less(best.by_source, by_source, OrderBy::Source)) best.by_source = std::move(by_source);
    most = sum;
  }
  return best;
}

// Whether a phrase comes before another in some order.
class PhraseLess {
 public:
  explicit PhraseLess(const ByteOrder& order) : order_(order) {}
  // Below, equal or above 0.
  int compare(std::span<const WordId> a, std::span<const WordId> b) const {
    for (std::size_t i = 0;; ++i) {
      const auto x = rank(a, i), y = rank(b, i);
      if (x != y) return x < y ? -1 : 1;
      if (i >= a.size()) return 0;
    }
  }
  bool operator()(std::span<const WordId> a, std::span<const WordId> b) const { return compare(a, b) < 0; }

 private:
  std::uint32_t rank(std::span<const WordId> phrase, std::size_t i) const {
    return i < phrase.size() ? order_.ranks[phrase[i]] : order_.terminator;
  }
  const ByteOrder& order_;
};

}  // namespace

// The runs, and the smallest key of all.
class RuleMerger::Runs {
 public:
  explicit Runs(std::span<const BytesView> runs) {
    for (const auto run : runs) readers_.emplace_back(run);
    for (std::size_t r = 0; r < readers_.size(); ++r)
      if (readers_[r].next()) heads_.push(head(r));
  }
  bool empty() const { return heads_.empty(); }
  BytesView key() const { return readers_[heads_.front().run].key(); }
  std::uint64_t n() const { return readers_[heads_.front().run].n(); }
  std::size_t n_read() const {
    std::size_t n = 0;
    for (const auto& reader : readers_) n += reader.n_read();
    return n;
  }
  void next() {
    const auto run = heads_.front().run;
    if (readers_[run].next())
      heads_.replace_front(head(run));
    else
      heads_.pop_front();
  }

 private:
  struct Head {
    std::uint64_t prefix;
    const RunReader* reader;
    std::size_t run;
  };
  struct Before {
    bool operator()(const Head& a, const Head& b) const {
      if (a.prefix != b.prefix) return a.prefix < b.prefix;
      const auto x = a.reader->key(), y = b.reader->key();
      const int c = std::memcmp(x.data(), y.data(), std::min(x.size(), y.size()));
      return c != 0 ? c < 0 : x.size() != y.size() ? x.size() < y.size() : a.run < b.run;
    }
  };
  Head head(std::size_t run) const {
    const auto key = readers_[run].key();
    std::uint64_t prefix = 0;
    for (std::size_t i = 0; i < 8; ++i) prefix = prefix << 8 | (i < key.size() ? key[i] : 0);
    return {.prefix = prefix, .reader = &readers_[run], .run = run};
  }
  std::vector<RunReader> readers_;
  Heap<Head, Before> heads_;
};

// Rules of some source sides with all their links and counts.
class RuleMerger::Collected {
 public:
  std::vector<std::int64_t> item_offsets{0};  // by rule
  std::vector<Item> items;
  std::vector<InnerLink> links;

  SeenRule rule(const RuleBatch& batch, std::size_t source, std::size_t row) const {
    return {.source = slice(std::span(batch.sources.words), batch.sources.offsets, source),
            .target = slice(std::span(batch.targets.words), batch.targets.offsets, row),
            .items = slice(std::span(items), item_offsets, row),
            .links = links};
  }
  template <class T>
  static std::span<const T> slice(std::span<const T> values, const std::vector<std::int64_t>& offsets, std::size_t i) {
    return hyperbaton::slice(values, offsets, i);
  }
  template <class T>
  static std::span<const T> slice(std::span<T> values, const std::vector<std::int64_t>& offsets, std::size_t i) {
    return hyperbaton::slice(std::span<const T>(values), offsets, i);
  }
};

RuleMerger::RuleMerger(std::span<const BytesView> runs, const RuleSymbols& symbols, const HashSet* sources)
    : runs_(std::make_unique<Runs>(runs)), symbols_(symbols), codec_(symbols), sources_(sources) {}

RuleMerger::~RuleMerger() = default;

std::size_t RuleMerger::n_read() const { return runs_->n_read(); }

RuleBatch RuleMerger::next(std::size_t n_rules, const RuleLexicon& lexicon, unsigned n_threads) {
  const auto gaps = symbols_.gaps;
  RuleBatch batch;
  batch.sources.offsets = batch.offsets = batch.targets.offsets = {0};
  Collected seen;
  RuleCodec::Decoded decoded;
  Bytes source, sides, last;

  // 1. Read the rules. Equal keys are consecutive.
  const auto starts_with = [](BytesView key, const Bytes& prefix) {
    return key.size() >= prefix.size() && std::memcmp(key.data(), prefix.data(), prefix.size()) == 0;
  };
  for (; !runs_->empty(); runs_->next()) {
    const auto key = runs_->key();
    if (!last.empty() && std::ranges::equal(key, last)) {
      seen.items.back().n += runs_->n();
      continue;
    }
    const bool new_source = source.empty() || !starts_with(key, source);
    if (new_source && batch.targets.offsets.size() > n_rules) break;
    codec_.decode(key, decoded);
    if (new_source) {
      source.assign(key.begin(), key.begin() + static_cast<std::ptrdiff_t>(codec_.source_size(key)));
      auto& words = batch.sources.words;
      words.insert(words.end(), decoded.source.begin(), decoded.source.end());
      batch.sources.offsets.push_back(static_cast<std::int64_t>(words.size()));
      batch.offsets.push_back(batch.offsets.back());
      batch.kept.push_back(!sources_ || sources_->contains(hash_symbols(decoded.source)));
    }
    if (new_source || !starts_with(key, sides)) {
      sides.assign(key.begin(), key.begin() + static_cast<std::ptrdiff_t>(codec_.sides_size(key)));
      auto& words = batch.targets.words;
      words.insert(words.end(), decoded.target.begin(), decoded.target.end());
      batch.targets.offsets.push_back(static_cast<std::int64_t>(words.size()));
      ++batch.offsets.back();
      seen.item_offsets.push_back(seen.item_offsets.back());
    }
    seen.items.push_back(
        {.first_link = seen.links.size(), .n_links = decoded.links.size(), .count = decoded.count, .n = runs_->n()});
    seen.links.insert(seen.links.end(), decoded.links.begin(), decoded.links.end());
    ++seen.item_offsets.back();
    last.assign(key.begin(), key.end());
  }

  // 2. Score them, source side by source side.
  const std::size_t n_sources = batch.sources.offsets.size() - 1, n = batch.targets.offsets.size() - 1;
  std::vector<float> counts_by_source(n);
  batch.counts.resize(n);
  batch.weights.resize(n);
  batch.second.assign(n, 0);
  batch.source_counts.resize(n_sources);
  std::vector<std::vector<InnerLink>> best(n);
  std::vector<std::uint32_t> sources_of(n);
  for (std::size_t p = 0; p < n_sources; ++p)
    std::fill(sources_of.begin() + batch.offsets[p], sources_of.begin() + batch.offsets[p + 1],
              static_cast<std::uint32_t>(p));
  parallel_chunks(n, kRulesAtOnce, n_threads, {}, [&](std::size_t begin, std::size_t end) {
    LexicalWeigher weigh(lexicon.table);
    std::vector<WordId> src, tgt;
    const auto renumber = [](std::span<const WordId> symbols, std::span<const WordId> numbers, std::vector<WordId>& words) {
      words.clear();
      for (const auto symbol : symbols) words.push_back(numbers[symbol]);
    };
    for (std::size_t k = begin; k < end; ++k) {
      const auto rule = seen.rule(batch, sources_of[k], k);
      counts_by_source[k] = sum_counts(rule, gaps, SortedBy::Source);
      batch.counts[k] = rule.items.size() == 1 ? counts_by_source[k] : sum_counts(rule, gaps, SortedBy::Target);
      auto links = best_links(rule);
      renumber(rule.source, lexicon.source_numbers, src);
      renumber(rule.target, lexicon.target_numbers, tgt);
      batch.weights[k] = {weigh(src, tgt, links.by_source).source_given_target,
                          weigh(src, tgt, links.by_target).target_given_source};
      best[k] = std::move(links.by_target);
    }
  });
  batch.links.offsets.assign(1, 0);
  for (auto& links : best) {
    batch.links.points.insert(batch.links.points.end(), links.begin(), links.end());
    batch.links.offsets.push_back(static_cast<std::int64_t>(batch.links.points.size()));
  }

  // 3. Add up the counts of source sides in the order of lines.
  const PhraseLess less(symbols_.moses.target);
  parallel_chunks(n_sources, 256, n_threads, {}, [&](std::size_t begin, std::size_t end) {
    std::vector<std::size_t> rows;
    for (std::size_t p = begin; p < end; ++p) {
      rows.resize(to_size(batch.offsets[p + 1] - batch.offsets[p]));
      std::iota(rows.begin(), rows.end(), to_size(batch.offsets[p]));
      const auto target = [&](std::size_t row) {
        return Collected::slice(std::span(batch.targets.words), batch.targets.offsets, row);
      };
      std::ranges::sort(rows, [&](std::size_t a, std::size_t b) {
        const int c = less.compare(target(a), target(b));
        if (c != 0 || a == b) return c < 0;
        return seen.rule(batch, p, a).first_text(gaps, SortedBy::Source) <
               seen.rule(batch, p, b).first_text(gaps, SortedBy::Source);
      });
      float sum = 0;
      for (const auto row : rows) sum += counts_by_source[row];
      batch.source_counts[p] = sum;
      for (std::size_t i = 1; i < rows.size(); ++i) {
        const auto a = rows[i - 1], b = rows[i];
        if (less.compare(target(a), target(b)) != 0) continue;
        const bool swapped = seen.rule(batch, p, b).first_text(gaps, SortedBy::Target) <
                             seen.rule(batch, p, a).first_text(gaps, SortedBy::Target);
        batch.second[swapped ? a : b] = 1;
      }
    }
  });
  return batch;
}

std::vector<std::uint32_t> order_phrases(PhrasesView phrases, const ByteOrder& order, unsigned n_threads) {
  const std::size_t n = phrases.size();
  std::vector<std::uint32_t> numbers(n);
  std::iota(numbers.begin(), numbers.end(), 0u);
  // Phrases with the same first word are consecutive in any order.
  std::vector<std::pair<std::uint32_t, std::size_t>> groups;  // rank of the first word, and where its phrases begin
  for (std::size_t p = 0; p < n; ++p) {
    const auto phrase = phrases[p];
    const auto rank = phrase.empty() ? order.terminator : order.ranks.at(phrase[0]);
    if (groups.empty() || groups.back().first != rank) groups.emplace_back(rank, p);
  }
  const PhraseLess less(order);
  const auto end_of = [&](std::size_t g) { return g + 1 < groups.size() ? groups[g + 1].second : n; };
  parallel_chunks(groups.size(), 1, n_threads, {}, [&](std::size_t g, std::size_t) {
    std::sort(numbers.begin() + static_cast<std::ptrdiff_t>(groups[g].second),
              numbers.begin() + static_cast<std::ptrdiff_t>(end_of(g)), [&](std::uint32_t a, std::uint32_t b) {
                const int c = less.compare(phrases[a], phrases[b]);
                return c != 0 ? c < 0 : a < b;
              });
  });
  std::vector<std::size_t> by_rank(groups.size());
  std::iota(by_rank.begin(), by_rank.end(), 0u);
  std::ranges::sort(by_rank, {}, [&](std::size_t g) { return groups[g].first; });
  std::vector<std::uint32_t> ordered;
  ordered.reserve(n);
  for (const auto g : by_rank)
    ordered.insert(ordered.end(), numbers.begin() + static_cast<std::ptrdiff_t>(groups[g].second),
                   numbers.begin() + static_cast<std::ptrdiff_t>(end_of(g)));
  return ordered;
}

std::vector<std::uint32_t> gap_order_ignored(PhrasesView targets, const ByteOrder& order, GapSymbols gaps,
                                             unsigned n_threads) {
  const PhraseLess less(order);
  std::vector<std::uint32_t> shapes(targets.size());
  parallel_chunks(targets.size(), kRulesAtOnce, n_threads, {}, [&](std::size_t begin, std::size_t end) {
    std::vector<WordId> straight;
    for (std::size_t p = begin; p < end; ++p) {
      shapes[p] = static_cast<std::uint32_t>(p);
      const auto target = targets[p];
      straight.assign(target.begin(), target.end());
      WordId next = gaps.first_target;
      for (auto& symbol : straight)
        if (gaps.is_target(symbol)) symbol = next++;
      if (std::ranges::equal(straight, target)) continue;
      std::size_t low = 0, high = targets.size();
      while (low < high) {
        const auto middle = (low + high) / 2;
        less(targets[middle], straight) ? low = middle + 1 : high = middle;
      }
      if (low < targets.size() && std::ranges::equal(targets[low], straight)) shapes[p] = static_cast<std::uint32_t>(low);
    }
  });
  return shapes;
}

std::vector<float> target_counts(const CountedRules& rules, std::span<const std::uint32_t> source_order,
                                 std::span<const std::uint32_t> shapes) {
  std::vector<float> sums(shapes.size(), 0);
  for (const auto p : source_order) {
    const auto first = to_size(rules.offsets[p]), last = to_size(rules.offsets[p + 1]);
    for (const std::uint8_t turn : {0, 1})
      for (std::size_t k = first; k < last; ++k)
        if (rules.second[k] == turn) sums[shapes[rules.targets[k]]] += rules.counts[k];
  }
  return sums;
}

}  // namespace hyperbaton
