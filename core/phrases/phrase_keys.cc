#include "phrases/phrase_keys.hh"

#include <algorithm>
#include <limits>

#include "base/hash.hh"

namespace hyperbaton {

std::vector<std::uint64_t> phrase_keys(TokensView text, SpansView spans, unsigned n_threads) {
  std::vector<std::uint64_t> keys(spans.size());
  parallel_chunks(spans.size(), std::size_t{1} << 16, n_threads, {}, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      if (spans.sentence[i] + std::size_t{1} >= text.offsets.size()) throw Error("a phrase lies behind the last sentence");
      const auto words = text[spans.sentence[i]];
      if (std::size_t{spans.begin[i]} + spans.length[i] > words.size()) throw Error("a phrase ends behind its sentence");
      std::uint64_t key = spans.length[i];
      for (const WordId word : words.subspan(spans.begin[i], spans.length[i])) key = combine(key, word);
      keys[i] = key;
    }
  });
  return keys;
}

NumberedKeys number_keys(std::span<const std::uint64_t> keys) {
  constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
  if (keys.size() >= none) throw Error("at most 2^32 - 1 keys can be numbered");
  struct Place {
    std::uint64_t key;
    std::uint32_t number;
  };
  // Numbers in the order in which the keys come, found in a table that is at most half full.
  std::vector<Place> places(1024, {0, none});
  const auto find = [&](std::uint64_t key) -> Place& {
    std::size_t at = static_cast<std::size_t>(key) & (places.size() - 1);
    while (places[at].number != none && places[at].key != key) at = (at + 1) & (places.size() - 1);
    return places[at];
  };
  NumberedKeys result;
  result.numbers.reserve(keys.size());
  std::vector<Place> order;  // different keys
  std::vector<std::int64_t> first;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (2 * order.size() >= places.size()) {
      places.assign(2 * places.size(), {0, none});
      for (const Place& place : order) find(place.key) = place;
    }
    Place& place = find(keys[i]);
    if (place.number == none) {
      place = {keys[i], static_cast<std::uint32_t>(order.size())};
      order.push_back(place);
      first.push_back(static_cast<std::int64_t>(i));
    }
    result.numbers.push_back(place.number);
  }
  std::vector<Place>().swap(places);
  std::sort(order.begin(), order.end(), [](const Place& a, const Place& b) { return a.key < b.key; });
  std::vector<std::uint32_t> ranks(order.size());
  for (std::size_t r = 0; r < order.size(); ++r) {
    ranks[order[r].number] = static_cast<std::uint32_t>(r);
    result.keys.push_back(order[r].key);
    result.first.push_back(first[order[r].number]);
  }
  for (std::uint32_t& number : result.numbers) number = ranks[number];
  return result;
}

}  // namespace hyperbaton
