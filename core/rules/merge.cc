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
#include "rules/extract.hh"

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
void find_best_links(const SeenRule& rule, BestLinks& best) {
  const auto same = [&](const Item& a, const Item& b) { return std::ranges::equal(rule.links_of(a), rule.links_of(b)); };
  const auto sort = [](std::vector<InnerLink>& links) {
    std::ranges::sort(links, {}, [](InnerLink x) { return std::pair(x.source, x.target); });
  };
  const auto assign = [&](const Item& item) {
    const auto links = rule.links_of(item);
    for (auto* side : {&best.by_target, &best.by_source}) side->assign(links.begin(), links.end());
    sort(best.by_source);
  };
  assign(rule.items[0]);
  if (rule.items.size() == 1) return;
  float most = -1;
  for (std::size_t k = 0; k < rule.items.size();) {
    // Items with the same links are consecutive.
    const auto& first = rule.items[k];
    std::vector<std::pair<std::string, const Item*>> lines;
    for (; k < rule.items.size() && same(rule.items[k], first); ++k)
      lines.emplace_back(count_text(rule.items[k].count), &rule.items[k]);
    std::ranges::sort(lines);
    float sum = 0;
    for (const auto& [text, item] : lines) add_times(sum, item->count, item->n);
    if (sum > most) assign(first);
    if (sum == most) {
      const auto links = rule.links_of(first);
      std::vector<InnerLink> by_target(links.begin(), links.end()), by_source = by_target;
      sort(by_source);
      if (links_less(best.by_target, by_target, OrderBy::Target)) best.by_target = std::move(by_target);
      if (links_less(best.by_source, by_source, OrderBy::Source)) best.by_source = std::move(by_source);
    }
    most = std::max(most, sum);
  }
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
  std::uint32_t rank(std::span<const WordId> phrase, std::size_t i) const {
    return i < phrase.size() ? order_.ranks[phrase[i]] : order_.terminator;
  }

 private:
  const ByteOrder& order_;
};

// The rules of one source side.
struct SourceRules {
  std::vector<WordId> source, targets;
  std::vector<std::int64_t> target_offsets{0}, item_offsets{0};  // by rule
  std::vector<Item> items;
  std::vector<InnerLink> links;

  void reset(std::span<const WordId> words) {
    source.assign(words.begin(), words.end());
    targets.clear();
    target_offsets.assign(1, 0);
    item_offsets.assign(1, 0);
    items.clear();
    links.clear();
  }
  std::size_t size() const { return item_offsets.size() - 1; }
  std::span<const WordId> target(std::size_t k) const { return valid_slice(targets, target_offsets, k); }
  SeenRule operator[](std::size_t k) const {
    return {.source = source, .target = target(k), .items = valid_slice(items, item_offsets, k), .links = links};
  }
};

struct TargetCount {
  std::uint64_t hash;
  float count;
};

constexpr int kSumBits = 6;
std::size_t part_of(std::uint64_t hash) { return hash >> (64 - kSumBits); }

bool starts_with(BytesView key, BytesView prefix) {
  return key.size() >= prefix.size() && std::memcmp(key.data(), prefix.data(), prefix.size()) == 0;
}

void append(Phrases& phrases, std::span<const WordId> words) {
  phrases.words.insert(phrases.words.end(), words.begin(), words.end());
  phrases.offsets.push_back(static_cast<std::int64_t>(phrases.words.size()));
}

}  // namespace

std::uint32_t FirstLinks::add(std::span<const InnerLink> links, std::span<const WordId> source, std::size_t row) {
  const auto number = sets_.number(links);
  if (number == firsts_.size())
    firsts_.push_back({{source.begin(), source.end()}, row});
  else if (auto& first = firsts_[number]; PhraseLess(order_)(source, first.source))
    first = {{source.begin(), source.end()}, row};
  return number;
}

std::vector<std::uint32_t> FirstLinks::add(const FirstLinks& other) {
  std::vector<std::uint32_t> numbers;
  for (std::size_t s = 0; s < other.firsts_.size(); ++s)
    numbers.push_back(add(other.sets_.set(s), other.firsts_[s].source, other.firsts_[s].row));
  return numbers;
}

std::vector<std::uint32_t> FirstLinks::order() const {
  std::vector<std::uint32_t> numbers(firsts_.size());
  std::iota(numbers.begin(), numbers.end(), 0u);
  std::ranges::sort(numbers, [&, less = PhraseLess(order_)](std::uint32_t a, std::uint32_t b) {
    const int c = less.compare(firsts_[a].source, firsts_[b].source);
    return c != 0 ? c < 0 : firsts_[a].row < firsts_[b].row;
  });
  return numbers;
}

// The smallest key of several readers.
class RuleMerger::Heads {
 public:
  // Readers are on their first keys, if they have one.
  void push(RunReader&& reader, std::size_t run) {
    readers_.push_back({std::move(reader), run});
    heap_.push(head(readers_.size() - 1));
  }
  explicit Heads(std::size_t n) { readers_.reserve(n); }
  bool empty() const { return heap_.empty(); }
  BytesView key() const { return front().reader.key(); }
  std::uint64_t n() const { return front().reader.n(); }
  std::size_t run() const { return front().run; }
  void next() {
    const auto at = heap_.front().at;
    if (readers_[at].reader.next())
      heap_.replace_front(head(at));
    else
      heap_.pop_front();
  }

 private:
  struct OfRun {
    RunReader reader;
    std::size_t run;
  };
  struct Head {
    KeyPrefix prefix;
    const RunReader* reader;
    std::size_t at;
  };
  struct Before {
    bool operator()(const Head& a, const Head& b) const {
      if (a.prefix != b.prefix) return a.prefix < b.prefix;
      const int c = compare_keys(a.reader->key(), b.reader->key());
      return c != 0 ? c < 0 : a.at < b.at;
    }
  };
  const OfRun& front() const { return readers_[heap_.front().at]; }
  Head head(std::size_t at) const {
    const auto& reader = readers_[at].reader;
    return {.prefix = prefix_of(reader.key()), .reader = &reader, .at = at};
  }
  std::vector<OfRun> readers_;
  Heap<Head, Before> heap_;
};

// Merges and scores the rules of a slice.
class RuleMerger::SliceWork {
 public:
  SliceWork(const RuleMerger& merger, const RuleLexicon& lexicon)
      : links(merger.symbols_.source), merger_(merger), lexicon_(lexicon), weigh_(lexicon.table) {
    batch.sources.offsets = batch.offsets = batch.targets.offsets = {0};
  }

  void run(const Slice& slice) {
    Heads heads(merger_.keys_.size());
    for (std::size_t r = 0; r < merger_.keys_.size(); ++r) {
      RunReader reader(merger_.keys_[r].subspan(slice.begins[r]));
      bool some = reader.next();
      while (some && compare_keys(reader.key(), slice.begin) < 0) some = reader.next();
      if (some) heads.push(std::move(reader), r);
    }
    RuleCodec::Decoded decoded;
    Bytes source, sides, last;
    const auto assign = [](Bytes& bytes, BytesView key) { bytes.assign(key.begin(), key.end()); };
    for (; !heads.empty(); heads.next()) {
      const auto key = heads.key();
      if (!last.empty() && std::ranges::equal(key, last)) {
        rules_.items.back().n += heads.n();
        continue;
      }
      const bool new_source = source.empty() || !starts_with(key, source);
      if (new_source && !slice.end.empty() && compare_keys(key, slice.end) >= 0) break;
      merger_.codec_.decode(key, decoded);
      if (new_source) {
        finish_source();
        assign(source, key.first(merger_.codec_.source_size(key)));
        rules_.reset(decoded.source);
      }
      if (new_source || !starts_with(key, sides)) {
        assign(sides, key.first(merger_.codec_.sides_size(key)));
        rules_.targets.insert(rules_.targets.end(), decoded.target.begin(), decoded.target.end());
        rules_.target_offsets.push_back(static_cast<std::int64_t>(rules_.targets.size()));
        rules_.item_offsets.push_back(rules_.item_offsets.back());
      }
      rules_.items.push_back(
          {.first_link = rules_.links.size(), .n_links = decoded.links.size(), .count = decoded.count, .n = heads.n()});
      rules_.links.insert(rules_.links.end(), decoded.links.begin(), decoded.links.end());
      ++rules_.item_offsets.back();
      assign(last, key);
    }
    finish_source();
  }

  RuleBatch batch;
  FirstLinks links;
  std::array<std::vector<TargetCount>, std::size_t{1} << kSumBits> counts;
  bool is_partial = false;

 private:
  void finish_source() {
    const auto n = rules_.size();
    if (n == 0) return;
    const bool is_kept = !merger_.sources_ || merger_.sources_->contains(hash_symbols(rules_.source));
    is_partial |= !is_kept;
    counts_.resize(n);
    for (std::size_t k = 0; k < n; ++k) {
      const auto rule = rules_[k];
      counts_[k] = sum_counts(rule, gaps_, SortedBy::Target);
      find_best_links(rule, best_);
      const auto set = links.add(best_.by_target, rule.source, k);
      if (!is_kept) continue;
      append(batch.targets, rule.target);
      batch.link_sets.push_back(set);
      batch.counts.push_back(counts_[k]);
      renumber(rule.source, lexicon_.source_numbers, src_);
      renumber(rule.target, lexicon_.target_numbers, tgt_);
      batch.weights.push_back(weigh_(src_, tgt_, best_.by_target));
      if (rule.items.size() > 1)
        batch.weights.back().source_given_target = weigh_(src_, tgt_, best_.by_source).source_given_target;
    }
    sort_lines(is_kept);
    if (is_kept) {
      float sum = 0;
      for (const auto k : lines_)
        sum += rules_[k].items.size() == 1 ? counts_[k] : sum_counts(rules_[k], gaps_, SortedBy::Source);
      batch.source_counts.push_back(sum);
      append(batch.sources, rules_.source);
      batch.offsets.push_back(static_cast<std::int64_t>(batch.counts.size()));
    }
    for (const bool second : {false, true})
      for (std::size_t k = 0; k < n; ++k)
        if (second_[k] == second) {
          const auto hash = hash_target(rules_.target(k), gaps_);
          counts[part_of(hash)].push_back({.hash = hash, .count = counts_[k]});
        }
    rules_.reset({});
  }

  // Sort the rules like lines of the file sorted by source, and find those that follow another one with the same target
  // side except for the order of gaps, in the file sorted by target. Only rules with two gaps can.
  void sort_lines(bool is_kept) {
    second_.assign(rules_.size(), false);
    if (rules_.size() == 1 || (!is_kept && std::ranges::count(rules_.source, gaps_.source) < 2)) {
      lines_.assign(1, 0);
      return;
    }
    const PhraseLess less(merger_.symbols_.moses.target);
    lines_.resize(rules_.size());
    std::iota(lines_.begin(), lines_.end(), std::size_t{0});
    std::ranges::sort(lines_, [&](std::size_t a, std::size_t b) {
      const int c = less.compare(rules_.target(a), rules_.target(b));
      return c != 0 || a == b ? c < 0 : first_text(a, SortedBy::Source) < first_text(b, SortedBy::Source);
    });
    for (std::size_t i = 1; i < lines_.size(); ++i) {
      const auto a = lines_[i - 1], b = lines_[i];
      if (less.compare(rules_.target(a), rules_.target(b)) == 0)
        second_[first_text(b, SortedBy::Target) < first_text(a, SortedBy::Target) ? a : b] = true;
    }
  }
  std::string first_text(std::size_t k, SortedBy sorted) const { return rules_[k].first_text(gaps_, sorted); }

  static void renumber(std::span<const WordId> symbols, std::span<const WordId> numbers, std::vector<WordId>& words) {
    words.clear();
    for (const auto symbol : symbols) words.push_back(numbers[symbol]);
  }

  const RuleMerger& merger_;
  const RuleLexicon& lexicon_;
  const GapSymbols gaps_ = merger_.symbols_.gaps;
  LexicalWeigher weigh_;
  SourceRules rules_;
  BestLinks best_;
  std::vector<float> counts_;
  std::vector<std::size_t> lines_;
  std::vector<bool> second_;
  std::vector<WordId> src_, tgt_;
};

RuleMerger::RuleMerger(std::span<const BytesView> runs, const RuleSymbols& symbols, const HashSet* sources)
    : symbols_(symbols),
      codec_(symbols),
      sources_(sources),
      index_(std::make_unique<Heads>(runs.size())),
      begins_(runs.size()),
      ends_(runs.size()),
      links_(symbols.source),
      sums_(std::size_t{1} << kSumBits) {
  for (const auto run : runs) {
    const RunView view(run);
    keys_.push_back(view.keys);
    RunReader blocks(view.index);
    if (blocks.next()) index_->push(std::move(blocks), keys_.size() - 1);
  }
}

RuleMerger::~RuleMerger() = default;

RuleMerger::Slice RuleMerger::next_slice(std::size_t n_bytes) {
  Slice slice{.begins = begins_, .begin = bound_, .end = {}};
  std::size_t n = 0;
  for (; !index_->empty(); index_->next()) {
    const auto key = index_->key();
    if (n >= n_bytes && !std::ranges::equal(key, bound_)) {
      slice.end.assign(key.begin(), key.end());
      break;
    }
    bound_.assign(key.begin(), key.end());
    begins_[index_->run()] = ends_[index_->run()];
    ends_[index_->run()] += index_->n();
    n += index_->n();
  }
  bound_ = slice.end;
  return slice;
}

std::vector<RuleBatch> RuleMerger::next(std::size_t n_bytes, const RuleLexicon& lexicon, unsigned n_threads) {
  std::vector<Slice> slices;
  while (slices.size() < std::max(n_threads, 1u) && !index_->empty()) slices.push_back(next_slice(n_bytes));
  std::vector<std::unique_ptr<SliceWork>> works(slices.size());
  parallel_chunks(slices.size(), 1, n_threads, {}, [&](std::size_t k, std::size_t) {
    works[k] = std::make_unique<SliceWork>(*this, lexicon);
    works[k]->run(slices[k]);
  });
  parallel_chunks(sums_.size(), 1, n_threads, {}, [&](std::size_t part, std::size_t) {
    for (const auto& work : works)
      for (const auto& target : work->counts[part]) sums_[part].find_or_add(target.hash).count += target.count;
  });
  std::vector<RuleBatch> batches;
  for (auto& work : works) {
    const auto numbers = links_.add(work->links);
    for (auto& set : work->batch.link_sets) set = numbers[set];
    is_partial_ |= work->is_partial;
    batches.push_back(std::move(work->batch));
  }
  return batches;
}

std::vector<float> RuleMerger::target_counts(PhrasesView targets, unsigned n_threads) const {
  std::vector<float> counts(targets.size());
  parallel_chunks(counts.size(), kRulesAtOnce, n_threads, {}, [&](std::size_t begin, std::size_t end) {
    for (std::size_t p = begin; p < end; ++p) {
      const auto hash = hash_target(targets[p], symbols_.gaps);
      counts[p] = sums_[part_of(hash)].find(hash).count;
    }
  });
  return counts;
}

std::vector<std::uint32_t> order_phrases(PhrasesView phrases, const ByteOrder& order, unsigned n_threads) {
  const std::size_t n = phrases.size();
  std::vector<std::uint32_t> numbers(n);
  // Phrases with the same first word are consecutive in any order.
  std::vector<std::pair<std::uint32_t, std::size_t>> groups;  // rank of the first word, and where its phrases begin
  for (std::size_t p = 0; p < n; ++p) {
    const auto phrase = phrases[p];
    const auto rank = phrase.empty() ? order.terminator : order.ranks.at(phrase[0]);
    if (groups.empty() || groups.back().first != rank) groups.emplace_back(rank, p);
  }
  const PhraseLess less(order);
  const auto end_of = [&](std::size_t g) { return g + 1 < groups.size() ? groups[g + 1].second : n; };
  // The words after the first decide most comparisons.
  struct Entry {
    std::array<std::uint32_t, 3> ranks;
    std::uint32_t number;
  };
  parallel_chunks(groups.size(), 1, n_threads, {}, [&](std::size_t g, std::size_t) {
    std::vector<Entry> entries;
    for (auto p = groups[g].second; p < end_of(g); ++p) {
      const auto phrase = phrases[p];
      entries.push_back(
          {{less.rank(phrase, 1), less.rank(phrase, 2), less.rank(phrase, 3)}, static_cast<std::uint32_t>(p)});
    }
    std::ranges::sort(entries, [&](const Entry& a, const Entry& b) {
      if (a.ranks != b.ranks) return a.ranks < b.ranks;
      const int c = less.compare(phrases[a.number], phrases[b.number]);
      return c != 0 ? c < 0 : a.number < b.number;
    });
    std::ranges::transform(entries, numbers.begin() + static_cast<std::ptrdiff_t>(groups[g].second), &Entry::number);
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

}  // namespace hyperbaton
