#include "phrases/inventory.hh"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <string_view>

#include "base/errors.hh"
#include "base/hash.hh"
#include "base/size.hh"
#include "base/varint.hh"
#include "phrases/extract.hh"

namespace hyperbaton {

namespace {

constexpr std::uint32_t kNone = 0xffffffff;
constexpr int kPartitionBits = 10;
constexpr std::size_t kPartitions = std::size_t{1} << kPartitionBits;

// The location of a phrase in the text, in 64 bits.
class Place {
 public:
  Place() = default;
  Place(std::size_t begin, std::uint8_t length) : bits_(begin << 8 | length) {}
  std::size_t begin() const { return bits_ >> 8; }
  std::size_t length() const { return bits_ & 0xff; }
  std::span<const WordId> words(TokensView text) const { return text.tokens.subspan(begin(), length()); }
  bool operator==(const Place&) const = default;

 private:
  std::uint64_t bits_ = 0;
};

// Hashes of the phrases of samples, which are sorted by sentence: prefix sums of a polynomial over the words give the
// hash of any phrase of the sentence with one product.
class PhraseHashes {
 public:
  PhraseHashes(TokensView text, SpansView spans) : text_(text), spans_(spans) {
    powers_[0] = 1;
    for (std::size_t n = 1; n < powers_.size(); ++n) powers_[n] = powers_[n - 1] * kBase;
  }
  std::uint64_t operator()(std::size_t sample) {
    if (sums_.empty() || spans_.sentence[sample] != sentence_) read_sentence(spans_.sentence[sample]);
    const std::size_t begin = spans_.begin[sample], length = spans_.length[sample];
    return mix(sums_[begin + length] - sums_[begin] * powers_[length]);
  }

 private:
  void read_sentence(std::uint32_t sentence) {
    sentence_ = sentence;
    sums_.assign(1, 0);
    for (const auto word : text_[sentence]) sums_.push_back(sums_.back() * kBase + mix(word + std::uint64_t{1}));
  }

  static constexpr std::uint64_t kBase = 0x9e3779b97f4a7c15ULL;
  TokensView text_;
  SpansView spans_;
  std::array<std::uint64_t, kMaxPhraseLength + 1> powers_;
  std::vector<std::uint64_t> sums_;  // over the words before each place of the sentence
  std::uint32_t sentence_ = 0;
};

// Stable sort by a small key: put(place, i) is called for each item; items with key k have the places from offsets[k] to
// offsets[k+1]. Returns the offsets.
template <class Key, class Put>
std::vector<std::int64_t> partition(std::size_t n, std::size_t n_keys, unsigned n_threads, const Key& key, const Put& put) {
  constexpr std::size_t chunk = std::size_t{1} << 20;
  const std::size_t n_chunks = (n + chunk - 1) / chunk;
  std::vector<std::vector<std::int64_t>> counts(n_chunks, std::vector<std::int64_t>(n_keys, 0));
  parallel_chunks(n, chunk, n_threads, {}, [&](std::size_t begin, std::size_t end) {
    auto& mine = counts[begin / chunk];
    for (std::size_t i = begin; i < end; ++i) ++mine[key(i)];
  });
  std::vector<std::int64_t> offsets(n_keys + 1, 0);
  std::int64_t at = 0;
  for (std::size_t k = 0; k < n_keys; ++k) {
    offsets[k] = at;
    for (auto& mine : counts) {
      const auto count = mine[k];
      mine[k] = at;
      at += count;
    }
  }
  offsets[n_keys] = at;
  parallel_chunks(n, chunk, n_threads, {}, [&](std::size_t begin, std::size_t end) {
    auto& next = counts[begin / chunk];
    for (std::size_t i = begin; i < end; ++i) put(to_size(next[key(i)]++), i);
  });
  return offsets;
}

// A sample's phrase: its location and part of its hash.
struct Found {
  Place place;
  std::uint32_t sample, tag;
};

// Number the phrases of samples by the first sample of each among `found`; the first samples are appended to `distinct`.
void group_equal(TokensView text, std::span<const Found> found, std::span<std::uint32_t> firsts,
                 std::vector<Found>& distinct) {
  const std::size_t n_slots = std::bit_ceil(found.size() + found.size() / 2 + 1);
  std::vector<Found> slots(n_slots, {{}, kNone, 0});
  for (const auto& phrase : found) {
    const auto same = [&](const Found& other) {
      return other.tag == phrase.tag &&
             (other.place == phrase.place || std::ranges::equal(other.place.words(text), phrase.place.words(text)));
    };
    std::size_t at = phrase.tag & (n_slots - 1);
    while (slots[at].sample != kNone && !same(slots[at])) at = (at + 1) & (n_slots - 1);
    if (slots[at].sample == kNone) {
      slots[at] = phrase;
      distinct.push_back(phrase);
    }
    firsts[phrase.sample] = slots[at].sample;
  }
}

// A phrase to be sorted among those with the same first word.
class SortedPhrase {
 public:
  SortedPhrase() = default;
  SortedPhrase(TokensView text, const ByteOrder& order, const Found& found) : place(found.place), first(found.sample) {
    const auto words = place.words(text);
    key_ = words.size() == 1   ? std::uint64_t{order.terminator} << 32
           : words.size() == 2 ? std::uint64_t{order.ranks[words[1]]} << 32 | order.terminator
                               : std::uint64_t{order.ranks[words[1]]} << 32 | order.ranks[words[2]];
  }
  bool before(const SortedPhrase& other, TokensView text, const ByteOrder& order) const {
    if (key_ != other.key_) return key_ < other.key_;
    const auto x = place.words(text), y = other.place.words(text);
    for (std::size_t i = 3;; ++i) {
      const auto rank_x = i < x.size() ? order.ranks[x[i]] : order.terminator;
      const auto rank_y = i < y.size() ? order.ranks[y[i]] : order.terminator;
      if (rank_x != rank_y) return rank_x < rank_y;
      if (i >= x.size()) return false;
    }
  }

  Place place;
  std::uint32_t first = 0;  // sample

 private:
  std::uint64_t key_ = 0;  // the ranks of the second and third word, where most comparisons end
};

}  // namespace

ByteOrder byte_order(SpelledWords words, std::string_view terminator) {
  const std::size_t n = words.size();
  const auto word = [&](std::uint32_t id) { return id == n ? terminator : words[id]; };
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
  if (n >= kNone) throw Error("there are more than 4,294,967,294 samples");
  if (text.tokens.size() > kNone) throw Error("there are more than 4,294,967,295 words");
  NumberedPhrases result;
  result.ids.resize(n);

  // 1. Group equal phrases: partition by hash, then one table for each partition. A phrase is identified by its first
  //    sample until it has a number.
  std::vector<std::vector<Found>> distinct(kPartitions);
  {
    std::vector<std::uint64_t> hashes(n);
    parallel_chunks(n, std::size_t{1} << 16, n_threads, {}, [&](std::size_t begin, std::size_t end) {
      PhraseHashes hash(text, spans);
      for (std::size_t i = begin; i < end; ++i) hashes[i] = hash(i);
    });
    std::vector<Found> found(n);
    const auto offsets = partition(
        n, kPartitions, n_threads, [&](std::size_t i) { return hashes[i] >> (64 - kPartitionBits); },
        [&](std::size_t at, std::size_t i) {
          const auto begin = to_size(text.offsets[spans.sentence[i]]) + spans.begin[i];
          found[at] = {{begin, spans.length[i]}, static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(hashes[i])};
        });
    std::vector<std::uint64_t>().swap(hashes);
    parallel_chunks(kPartitions, 1, n_threads, progress, [&](std::size_t part, std::size_t) {
      group_equal(text, slice(std::span<const Found>(found), offsets, part), result.ids, distinct[part]);
    });
  }

  // 2. Sort the distinct phrases: by first word, then each bucket by the rest.
  std::vector<Found> all;
  for (auto& mine : distinct) {
    all.insert(all.end(), mine.begin(), mine.end());
    std::vector<Found>().swap(mine);
  }
  std::vector<SortedPhrase> sorted(all.size());
  const auto buckets = partition(
      all.size(), order.ranks.size() + 1, n_threads,
      [&](std::size_t i) { return std::size_t{order.ranks[text.tokens[all[i].place.begin()]]}; },
      [&](std::size_t at, std::size_t i) { sorted[at] = {text, order, all[i]}; });
  std::vector<Found>().swap(all);
  parallel_chunks(order.ranks.size() + 1, 64, n_threads, {}, [&](std::size_t begin, std::size_t end) {
    for (std::size_t b = begin; b < end; ++b)
      std::sort(sorted.begin() + buckets[b], sorted.begin() + buckets[b + 1],
                [&](const SortedPhrase& x, const SortedPhrase& y) { return x.before(y, text, order); });
  });

  // 3. Number them, and give each sample the number of its phrase through the phrase's first sample.
  result.begins.resize(sorted.size());
  result.lengths.resize(sorted.size());
  std::vector<std::uint32_t> number(n);
  parallel_chunks(sorted.size(), std::size_t{1} << 16, n_threads, {}, [&](std::size_t begin, std::size_t end) {
    for (std::size_t p = begin; p < end; ++p) {
      result.begins[p] = static_cast<std::uint32_t>(sorted[p].place.begin());
      result.lengths[p] = static_cast<std::uint8_t>(sorted[p].place.length());
      number[sorted[p].first] = static_cast<std::uint32_t>(p);
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
  if (target_ids.size() != n) throw Error("source and target sides have different numbers of samples");
  PhrasePairs pairs;
  std::vector<std::int64_t> starts(n_source_phrases + 1, 0);
  for (const auto id : source_ids) ++starts[id];
  exclusive_sum(starts);
  pairs.sample_order.resize(n);
  {
    auto next = starts;
    for (std::size_t i = 0; i < n; ++i) pairs.sample_order[to_size(next[source_ids[i]]++)] = static_cast<std::uint32_t>(i);
  }
  // Sort each source phrase's samples by target phrase, counting the pairs; then write them.
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
  const auto n_pairs = to_size(exclusive_sum(pairs.offsets));
  pairs.targets.resize(n_pairs);
  pairs.sample_offsets.assign(n_pairs + 1, static_cast<std::int64_t>(n));
  parallel_chunks(n_source_phrases, chunk, n_threads, {}, [&](std::size_t begin, std::size_t end) {
    for (std::size_t p = begin; p < end; ++p) {
      auto pair = to_size(pairs.offsets[p]);
      for (auto i = starts[p]; i < starts[p + 1]; ++i) {
        const auto target = target_ids[pairs.sample_order[to_size(i)]];
        if (i > starts[p] && target == pairs.targets[pair - 1]) continue;
        pairs.targets[pair] = target;
        pairs.sample_offsets[pair] = i;
        ++pair;
      }
    }
  });
  return pairs;
}

std::size_t merge_phrases(std::span<const PhrasesView> runs, const ByteOrder& order, const PhrasesOut& out,
                          std::span<const std::span<std::uint32_t>> numbers) {
  const auto rank = [&](std::span<const WordId> phrase, std::size_t i) {
    return i < phrase.size() ? order.ranks[phrase[i]] : i == phrase.size() ? order.terminator : 0;
  };
  constexpr std::size_t n_ranks = 4;
  struct Head {
    std::array<std::uint32_t, n_ranks> ranks;  // of the first words
    std::span<const WordId> phrase;
    std::size_t run;
  };
  const auto before = [&](const Head& a, const Head& b) {
    if (a.ranks != b.ranks) return a.ranks < b.ranks;
    for (std::size_t i = n_ranks; i <= std::max(a.phrase.size(), b.phrase.size()); ++i)
      if (const auto x = rank(a.phrase, i), y = rank(b.phrase, i); x != y) return x < y;
    return a.run < b.run;
  };
  std::vector<std::size_t> next(runs.size(), 0);
  const auto head = [&](std::size_t run) {
    const auto phrase = runs[run][next[run]];
    return Head{{rank(phrase, 0), rank(phrase, 1), rank(phrase, 2), rank(phrase, 3)}, phrase, run};
  };
  Heap<Head, decltype(before)> heads(before);
  for (std::size_t r = 0; r < runs.size(); ++r)
    if (runs[r].size() > 0) heads.push(head(r));
  std::size_t n = 0;
  std::span<const WordId> last;
  while (!heads.empty()) {
    const auto [ranks, phrase, r] = heads.front();
    if (n == 0 || !std::ranges::equal(phrase, last)) {
      last = phrase;
      out.begins[n] = static_cast<std::uint32_t>(runs[r].begins[next[r]]);
      out.lengths[n++] = static_cast<std::uint8_t>(runs[r].lengths[next[r]]);
    }
    numbers[r][next[r]] = static_cast<std::uint32_t>(n - 1);
    if (++next[r] < runs[r].size())
      heads.replace_front(head(r));
    else
      heads.pop_front();
  }
  return n;
}

std::vector<std::uint8_t> encode_pairs(const PhrasePairsView& pairs) {
  std::vector<std::uint8_t> bytes;
  for (std::size_t p = 0; p + 1 < pairs.offsets.size(); ++p) {
    const auto targets = slice(pairs.targets, pairs.offsets, p);
    write_varint(targets.size(), bytes);
    auto pair = to_size(pairs.offsets[p]);
    std::uint32_t last_target = 0;
    for (const auto target : targets) {
      write_varint(target - last_target, bytes);
      last_target = target;
      const auto samples = slice(pairs.sample_order, pairs.sample_offsets, pair++);
      write_varint(samples.size(), bytes);
      std::uint32_t last = 0;
      for (const auto sample : samples) {
        write_varint(sample - last, bytes);
        last = sample;
      }
    }
  }
  return bytes;
}

bool PairsReader::next() {
  for (; n_pairs_ == 0; ++n_sources_) {
    if (rest_.empty()) return false;
    n_pairs_ = read_varint(rest_);
    target_ = 0;
  }
  --n_pairs_;
  target_ += read_varint(rest_);
  const auto mapped = !run_.target_numbers.empty();
  if (n_sources_ > run_.source_numbers.size() || (mapped && target_ >= run_.target_numbers.size()))
    throw_damaged("a number is out of range");
  const auto target = mapped ? run_.target_numbers[target_] : static_cast<std::uint32_t>(target_);
  key_ = std::uint64_t{run_.source_numbers[n_sources_ - 1]} << 32 | target;
  return true;
}

std::uint32_t PairsReader::read_samples(std::vector<std::uint32_t>& samples) {
  const auto n = static_cast<std::uint32_t>(read_varint(rest_));
  auto sample = std::uint64_t{run_.first_sample};
  for (std::uint32_t i = 0; i < n; ++i) {
    sample += read_varint(rest_);
    samples.push_back(static_cast<std::uint32_t>(sample));
  }
  return n;
}

PairMerger::PairMerger(std::span<const PairsRun> runs) {
  for (const auto& run : runs) readers_.emplace_back(run);
  for (std::size_t r = 0; r < readers_.size(); ++r)
    if (readers_[r].next()) heads_.push({readers_[r].key(), r});
}

PairMerger::Batch PairMerger::next(std::size_t n_samples) {
  Batch batch;
  std::uint64_t last = 0;
  while (!heads_.empty()) {
    const auto [key, r] = heads_.front();
    if (batch.counts.empty() || key != last) {
      if (batch.sample_order.size() >= n_samples) break;
      last = key;
      batch.sources.push_back(static_cast<std::uint32_t>(key >> 32));
      batch.targets.push_back(static_cast<std::uint32_t>(key));
      batch.counts.push_back(0);
    }
    batch.counts.back() += readers_[r].read_samples(batch.sample_order);
    if (readers_[r].next())
      heads_.replace_front({readers_[r].key(), r});
    else
      heads_.pop_front();
  }
  return batch;
}

std::vector<std::size_t> PairMerger::n_read() const {
  std::vector<std::size_t> n;
  for (const auto& reader : readers_) n.push_back(reader.n_read());
  return n;
}

}  // namespace hyperbaton
