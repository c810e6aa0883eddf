#include "phrases/inventory.hh"

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <string_view>

#include "base/errors.hh"
#include "base/hash.hh"

namespace hyperbaton {

namespace {

constexpr std::uint32_t kNone = 0xffffffff;
constexpr int kPartitionBits = 8;
constexpr std::size_t kPartitions = std::size_t{1} << kPartitionBits;

std::span<const WordId> words_of(TokensView text, SpansView spans, std::size_t sample) {
  const auto start = text.offsets[spans.sentence[sample]] + spans.begin[sample];
  return text.tokens.subspan(static_cast<std::size_t>(start), spans.length[sample]);
}

std::uint64_t hash_words(std::span<const WordId> words) {
  std::uint64_t h = words.size();
  for (const auto word : words) h = combine(h, word);
  return h;
}

// Samples ordered by a small key, stable: those with key k are order[offsets[k] .. offsets[k+1]).
struct Partition {
  std::vector<std::int64_t> offsets;
  std::vector<std::uint32_t> order;
};

template <class Key>
Partition partition(std::size_t n, std::size_t n_keys, unsigned n_threads, const Key& key) {
  constexpr std::size_t chunk = std::size_t{1} << 20;
  const std::size_t n_chunks = (n + chunk - 1) / chunk;
  std::vector<std::vector<std::int64_t>> counts(n_chunks, std::vector<std::int64_t>(n_keys, 0));
  parallel_chunks(n, chunk, n_threads, {}, [&](std::size_t begin, std::size_t end) {
    auto& mine = counts[begin / chunk];
    for (std::size_t i = begin; i < end; ++i) ++mine[key(i)];
  });
  Partition result;
  result.offsets.assign(n_keys + 1, 0);
  std::int64_t at = 0;
  for (std::size_t k = 0; k < n_keys; ++k) {
    result.offsets[k] = at;
    for (auto& mine : counts) {
      const auto count = mine[k];
      mine[k] = at;
      at += count;
    }
  }
  result.offsets[n_keys] = at;
  result.order.resize(n);
  parallel_chunks(n, chunk, n_threads, {}, [&](std::size_t begin, std::size_t end) {
    auto& next = counts[begin / chunk];
    for (std::size_t i = begin; i < end; ++i)
      result.order[static_cast<std::size_t>(next[key(i)]++)] = static_cast<std::uint32_t>(i);
  });
  return result;
}

}  // namespace

ByteOrder byte_order(std::span<const std::uint8_t> vocabulary_bytes, std::span<const std::int64_t> vocabulary_offsets) {
  const std::size_t n = vocabulary_offsets.size() - 1;
  const auto* bytes = reinterpret_cast<const char*>(vocabulary_bytes.data());
  const auto word = [&](std::uint32_t id) -> std::string_view {
    if (id == n) return "|||";
    return {bytes + vocabulary_offsets[id], static_cast<std::size_t>(vocabulary_offsets[id + 1] - vocabulary_offsets[id])};
  };
  // A word in a line is followed by a space, so "ab" and "ab!" compare as "ab " and "ab! ".
  const auto less = [&](std::uint32_t a, std::uint32_t b) {
    const auto x = word(a), y = word(b);
    const auto shared = std::min(x.size(), y.size());
    if (const int c = x.substr(0, shared).compare(y.substr(0, shared)); c != 0) return c < 0;
    if (x.size() == y.size()) return false;
    return x.size() < y.size() ? ' ' < static_cast<unsigned char>(y[shared]) : static_cast<unsigned char>(x[shared]) < ' ';
  };
  std::vector<std::uint32_t> sorted(n + 1);
  std::iota(sorted.begin(), sorted.end(), 0u);
  std::sort(sorted.begin(), sorted.end(), less);
  ByteOrder order;
  order.ranks.resize(n);
  for (std::uint32_t rank = 0; rank <= n; ++rank) (sorted[rank] == n ? order.terminator : order.ranks[sorted[rank]]) = rank;
  return order;
}

NumberedPhrases number_phrases(TokensView text, const ByteOrder& order, SpansView spans, unsigned n_threads,
                               const Progress& progress) {
  const std::size_t n = spans.size();
  if (n >= kNone) throw Error("more than four thousand million samples");
  NumberedPhrases result;
  result.ids.resize(n);

  // 1. Group equal phrases: partition by hash, then one table for each partition. A phrase is known by its first
  //    sample, until it has its number.
  const auto parts = partition(n, kPartitions, n_threads, [&](std::size_t i) {
    return static_cast<std::size_t>(hash_words(words_of(text, spans, i)) >> (64 - kPartitionBits));
  });
  std::vector<std::vector<std::uint32_t>> firsts(kPartitions);
  const auto same = [&](std::size_t a, std::size_t b) {
    const auto x = words_of(text, spans, a), y = words_of(text, spans, b);
    return std::equal(x.begin(), x.end(), y.begin(), y.end());
  };
  parallel_chunks(kPartitions, 1, n_threads, progress, [&](std::size_t part, std::size_t) {
    const auto begin = static_cast<std::size_t>(parts.offsets[part]),
               end = static_cast<std::size_t>(parts.offsets[part + 1]);
    struct Slot {
      std::uint32_t first = kNone, tag = 0;
    };
    std::size_t n_slots = 64;
    std::vector<Slot> slots(n_slots);
    auto& mine = firsts[part];
    const auto place = [&](std::uint32_t sample, std::uint64_t hash) -> Slot& {
      std::size_t at = hash & (n_slots - 1);
      const auto tag = static_cast<std::uint32_t>(hash >> 24);
      while (slots[at].first != kNone && !(slots[at].tag == tag && same(slots[at].first, sample)))
        at = (at + 1) & (n_slots - 1);
      slots[at].tag = tag;
      return slots[at];
    };
    for (std::size_t k = begin; k < end; ++k) {
      const auto sample = parts.order[k];
      Slot& slot = place(sample, hash_words(words_of(text, spans, sample)));
      if (slot.first == kNone) {
        slot.first = sample;
        mine.push_back(sample);
      }
      result.ids[sample] = slot.first;
      if (2 * mine.size() > n_slots) {
        n_slots *= 4;
        slots.assign(n_slots, {});
        for (const auto first : mine) place(first, hash_words(words_of(text, spans, first))).first = first;
      }
    }
  });

  // 2. Sort the distinct phrases: by first word, then each bucket by the rest.
  std::vector<std::uint32_t> distinct;
  for (auto& mine : firsts) {
    distinct.insert(distinct.end(), mine.begin(), mine.end());
    std::vector<std::uint32_t>().swap(mine);
  }
  const auto buckets = partition(distinct.size(), order.ranks.size() + 1, n_threads, [&](std::size_t i) {
    return static_cast<std::size_t>(order.ranks[words_of(text, spans, distinct[i])[0]]);
  });
  const auto less = [&](std::uint32_t a, std::uint32_t b) {
    const auto x = words_of(text, spans, a), y = words_of(text, spans, b);
    for (std::size_t i = 1;; ++i) {
      const auto rank_x = i < x.size() ? order.ranks[x[i]] : order.terminator;
      const auto rank_y = i < y.size() ? order.ranks[y[i]] : order.terminator;
      if (rank_x != rank_y) return rank_x < rank_y;
      if (i >= x.size()) return false;
    }
  };
  std::vector<std::uint32_t> sorted(distinct.size());
  parallel_chunks(order.ranks.size() + 1, 64, n_threads, {}, [&](std::size_t begin, std::size_t end) {
    for (std::size_t b = begin; b < end; ++b) {
      const auto first = buckets.offsets[b], last = buckets.offsets[b + 1];
      for (auto i = first; i < last; ++i)
        sorted[static_cast<std::size_t>(i)] = distinct[buckets.order[static_cast<std::size_t>(i)]];
      std::sort(sorted.begin() + first, sorted.begin() + last, less);
    }
  });
  std::vector<std::uint32_t>().swap(distinct);

  // 3. Number them, and hand each sample the number of its phrase through the phrase's first sample.
  auto& phrases = result.phrases;
  phrases.offsets.assign(sorted.size() + 1, 0);
  for (std::size_t p = 0; p < sorted.size(); ++p) phrases.offsets[p + 1] = phrases.offsets[p] + spans.length[sorted[p]];
  phrases.words.resize(static_cast<std::size_t>(phrases.offsets.back()));
  std::vector<std::uint32_t> number(n);
  parallel_chunks(sorted.size(), std::size_t{1} << 16, n_threads, {}, [&](std::size_t begin, std::size_t end) {
    for (std::size_t p = begin; p < end; ++p) {
      const auto words = words_of(text, spans, sorted[p]);
      std::copy(words.begin(), words.end(), phrases.words.begin() + phrases.offsets[p]);
      number[sorted[p]] = static_cast<std::uint32_t>(p);
    }
  });
  parallel_chunks(n, std::size_t{1} << 18, n_threads, {}, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) result.ids[i] = number[result.ids[i]];
  });
  return result;
}

PhrasePairs pair_phrases(std::span<const std::uint32_t> source_ids, std::span<const std::uint32_t> target_ids,
                         std::size_t n_source_phrases, unsigned n_threads, const Progress& progress) {
  const std::size_t n = source_ids.size();
  if (target_ids.size() != n) throw Error("source and target sides differ in their number of samples");
  PhrasePairs pairs;
  std::vector<std::int64_t> starts(n_source_phrases + 1, 0);
  for (const auto id : source_ids) ++starts[id];
  exclusive_sum(starts);
  pairs.sample_order.resize(n);
  {
    auto next = starts;
    for (std::size_t i = 0; i < n; ++i)
      pairs.sample_order[static_cast<std::size_t>(next[source_ids[i]]++)] = static_cast<std::uint32_t>(i);
  }
  // Sort each source phrase's samples by target phrase, counting the pairs; then write them down.
  constexpr std::size_t chunk = 8192;
  pairs.offsets.assign(n_source_phrases + 1, 0);
  parallel_chunks(n_source_phrases, chunk, n_threads, progress, [&](std::size_t begin, std::size_t end) {
    for (std::size_t p = begin; p < end; ++p) {
      const auto first = pairs.sample_order.begin() + starts[p], last = pairs.sample_order.begin() + starts[p + 1];
      std::sort(first, last, [&](std::uint32_t a, std::uint32_t b) {
        return target_ids[a] != target_ids[b] ? target_ids[a] < target_ids[b] : a < b;
      });
      std::int64_t count = 0;
      for (auto it = first; it != last; ++it) count += it == first || target_ids[*it] != target_ids[*(it - 1)];
      pairs.offsets[p] = count;
    }
  });
  const auto n_pairs = static_cast<std::size_t>(exclusive_sum(pairs.offsets));
  pairs.targets.resize(n_pairs);
  pairs.sample_offsets.assign(n_pairs + 1, static_cast<std::int64_t>(n));
  parallel_chunks(n_source_phrases, chunk, n_threads, {}, [&](std::size_t begin, std::size_t end) {
    for (std::size_t p = begin; p < end; ++p) {
      auto pair = static_cast<std::size_t>(pairs.offsets[p]);
      for (auto i = starts[p]; i < starts[p + 1]; ++i) {
        const auto target = target_ids[pairs.sample_order[static_cast<std::size_t>(i)]];
        if (i > starts[p] && target == pairs.targets[pair - 1]) continue;
        pairs.targets[pair] = target;
        pairs.sample_offsets[pair] = i;
        ++pair;
      }
    }
  });
  return pairs;
}

namespace {

// The runs whose next item is not taken yet, the one with the least item first; of equal ones the first run.
template <class Less>
class Heads {
 public:
  Heads(std::size_t n_runs, const Less& less)
      : later_([less](std::size_t a, std::size_t b) { return less(b, a) || (!less(a, b) && b < a); }) {
    runs_.reserve(n_runs);
  }
  bool empty() const { return runs_.empty(); }
  void push(std::size_t run) {
    runs_.push_back(run);
    std::push_heap(runs_.begin(), runs_.end(), later_);
  }
  std::size_t pop() {
    std::pop_heap(runs_.begin(), runs_.end(), later_);
    const auto run = runs_.back();
    runs_.pop_back();
    return run;
  }

 private:
  std::function<bool(std::size_t, std::size_t)> later_;
  std::vector<std::size_t> runs_;
};

}  // namespace

std::size_t merge_phrases(std::span<const PhrasesView> runs, const ByteOrder& order, std::span<std::int64_t> offsets,
                          std::span<WordId> words, std::span<const std::span<std::uint32_t>> numbers) {
  std::vector<std::size_t> next(runs.size(), 0);
  const auto rank = [&](std::span<const WordId> phrase, std::size_t i) {
    return i < phrase.size() ? order.ranks[phrase[i]] : order.terminator;
  };
  const auto less = [&](std::size_t a, std::size_t b) {
    const auto x = runs[a][next[a]], y = runs[b][next[b]];
    for (std::size_t i = 0;; ++i) {
      const auto rank_x = rank(x, i), rank_y = rank(y, i);
      if (rank_x != rank_y) return rank_x < rank_y;
      if (i >= x.size()) return false;
    }
  };
  Heads heads(runs.size(), less);
  for (std::size_t r = 0; r < runs.size(); ++r)
    if (runs[r].size() > 0) heads.push(r);
  std::size_t n = 0, n_words = 0;
  offsets[0] = 0;
  while (!heads.empty()) {
    const auto r = heads.pop();
    const auto phrase = runs[r][next[r]];
    const auto last = n == 0 ? std::span<WordId>{} : words.subspan(static_cast<std::size_t>(offsets[n - 1]));
    if (n == 0 || !std::ranges::equal(phrase, last.first(n_words - static_cast<std::size_t>(offsets[n - 1])))) {
      std::ranges::copy(phrase, words.begin() + static_cast<std::ptrdiff_t>(n_words));
      n_words += phrase.size();
      offsets[++n] = static_cast<std::int64_t>(n_words);
    }
    numbers[r][next[r]] = static_cast<std::uint32_t>(n - 1);
    if (++next[r] < runs[r].size()) heads.push(r);
  }
  return n;
}

std::size_t merge_pairs(std::span<const PairsRun> runs, const PairsOut& out) {
  struct Head {
    std::size_t source = 0, pair = 0;  // by the numbers of the run
    std::uint64_t key = 0;             // by those of all
  };
  std::vector<Head> next(runs.size());
  // Whether the run has a pair left; sets its key.
  const auto has_pair = [&](std::size_t r) {
    const auto& run = runs[r];
    auto& head = next[r];
    if (head.pair >= run.targets.size()) return false;
    while (run.offsets[head.source + 1] <= static_cast<std::int64_t>(head.pair)) ++head.source;
    head.key = std::uint64_t{run.source_numbers[head.source]} << 32 | run.target_numbers[run.targets[head.pair]];
    return true;
  };
  Heads heads(runs.size(), [&](std::size_t a, std::size_t b) { return next[a].key < next[b].key; });
  for (std::size_t r = 0; r < runs.size(); ++r)
    if (has_pair(r)) heads.push(r);
  std::size_t n = 0, n_sources = 0, at = 0;
  std::uint64_t last = 0;
  while (!heads.empty()) {
    const auto r = heads.pop();
    auto& head = next[r];
    if (n == 0 || head.key != last) {
      last = head.key;
      for (; n_sources <= last >> 32; ++n_sources) out.offsets[n_sources] = static_cast<std::int64_t>(n);
      out.targets[n] = static_cast<std::uint32_t>(last);
      out.sample_offsets[n++] = static_cast<std::int64_t>(at);
    }
    for (const auto sample : slice(runs[r].sample_order, runs[r].sample_offsets, head.pair))
      out.sample_order[at++] = runs[r].first_sample + sample;
    ++head.pair;
    if (has_pair(r)) heads.push(r);
  }
  for (; n_sources < out.offsets.size(); ++n_sources) out.offsets[n_sources] = static_cast<std::int64_t>(n);
  out.sample_offsets[n] = static_cast<std::int64_t>(at);
  return n;
}

}  // namespace hyperbaton
