#include "phrases/phrase_keys.hh"

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

}  // namespace hyperbaton
