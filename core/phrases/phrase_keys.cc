#include "phrases/phrase_keys.hh"

#include <algorithm>
#include <bit>
#include <limits>

#include "base/hash.hh"

namespace hyperbaton {

std::vector<std::uint64_t> phrase_keys(TokensView text, SpansView spans, unsigned n_threads) {
  std::vector<std::uint64_t> keys(spans.size());
  parallel_chunks(spans.size(), std::size_t{1} << 16, n_threads, {}, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      if (spans.sentence[i] + std::size_t{1} >= text.offsets.size()) throw Error("a phrase lies after the last sentence");
      const auto words = text[spans.sentence[i]];
      if (std::size_t{spans.begin[i]} + spans.length[i] > words.size())
        throw Error("a phrase ends after the end of its sentence");
      keys[i] = hash_words(words.subspan(spans.begin[i], spans.length[i]));
    }
  });
  return keys;
}

namespace {

// A key and its index.
struct KeyPlace {
  std::uint64_t key;
  std::uint32_t place;
};

// Partition evenly distributed keys by their highest bits into about `n_buckets` buckets.
class Buckets {
 public:
  Buckets(std::uint64_t low, std::uint64_t high, std::size_t n_buckets)
      : low_(low),
        shift_(std::max(n_bits(high - low), n_bits(n_buckets)) - n_bits(n_buckets)),
        ends_(static_cast<std::size_t>((high - low) >> shift_) + 1, 0) {}

  // Copy indices into buckets, stably; `each` calls its argument with every index.
  template <class Each>
  void fill(const Each& each, std::span<KeyPlace> to) {
    each([&](const KeyPlace& place) { ++ends_[number(place.key)]; });
    exclusive_sum(ends_);
    each([&](const KeyPlace& place) { to[ends_[number(place.key)]++] = place; });
  }
  // The end of each bucket, after `fill`.
  const std::vector<std::uint32_t>& ends() const { return ends_; }

 private:
  static unsigned n_bits(std::uint64_t value) { return static_cast<unsigned>(std::bit_width(value)); }
  std::size_t number(std::uint64_t key) const { return static_cast<std::size_t>((key - low_) >> shift_); }

  std::uint64_t low_;
  unsigned shift_;
  std::vector<std::uint32_t> ends_;
};

}  // namespace

NumberedKeys number_keys(std::span<const std::uint64_t> keys) {
  if (keys.size() >= std::numeric_limits<std::uint32_t>::max()) throw Error("at most 2^32 - 1 keys can be numbered");
  NumberedKeys result;
  if (keys.empty()) return result;
  // Partition into coarse buckets first, several of which fit in the cache, so that memory is written in few places at a
  // time, then each of them into buckets of about one key.
  constexpr std::size_t kMostBuckets = 2048, kBucket = 256;
  const auto [low, high] = std::minmax_element(keys.begin(), keys.end());
  Buckets large(*low, *high, std::min(keys.size() / kBucket + 1, kMostBuckets));
  std::vector<KeyPlace> places(keys.size()), sorted;
  large.fill(
      [&](const auto& on_place) {
        for (std::size_t i = 0; i < keys.size(); ++i) on_place(KeyPlace{keys[i], static_cast<std::uint32_t>(i)});
      },
      places);
  result.numbers.resize(keys.size());
  std::size_t begin = 0;
  for (const std::size_t end : large.ends()) {
    const auto bucket = std::span(places).subspan(begin, end - begin);
    begin = end;
    if (bucket.empty()) continue;
    const auto by_key = [](const KeyPlace& a, const KeyPlace& b) { return a.key < b.key; };
    const auto [first, last] = std::minmax_element(bucket.begin(), bucket.end(), by_key);
    sorted.resize(bucket.size());
    Buckets(first->key, last->key, bucket.size())
        .fill([&](const auto& on_place) { std::ranges::for_each(bucket, on_place); }, sorted);
    // Only adjacent keys can be out of order now.
    for (std::size_t j = 1; j < sorted.size(); ++j) {
      const KeyPlace place = sorted[j];
      std::size_t to = j;
      for (; to > 0 && place.key < sorted[to - 1].key; --to) sorted[to] = sorted[to - 1];
      sorted[to] = place;
    }
    for (const KeyPlace& place : sorted) {
      if (result.keys.empty() || result.keys.back() != place.key) {
        result.keys.push_back(place.key);
        result.first.push_back(place.place);
      }
      result.numbers[place.place] = static_cast<std::uint32_t>(result.keys.size() - 1);
    }
  }
  return result;
}

}  // namespace hyperbaton
