#include "align/lexicon.hh"

#include "base/slices.hh"

namespace hyperbaton {

namespace {

// Inverted index: the sentences of word w are sentences[starts[w] .. starts[w+1]), each listed once.
struct Occurrences {
  std::vector<std::int64_t> starts;
  std::vector<std::uint32_t> sentences;
};

Occurrences find_occurrences(TokensView text, std::size_t n_words, const std::vector<std::uint8_t>& chosen) {
  constexpr auto none = std::numeric_limits<std::uint32_t>::max();
  Occurrences occurrences;
  occurrences.starts.assign(n_words + 1, 0);
  std::vector<std::uint32_t> last(n_words, none);
  const auto each = [&](const auto& visit) {
    std::fill(last.begin(), last.end(), none);
    for (std::uint32_t s = 0; s < chosen.size(); ++s) {
      if (!chosen[s]) continue;
      for (const auto word : text[s]) {
        if (last[word] == s) continue;
        last[word] = s;
        visit(word, s);
      }
    }
  };
  each([&](WordId word, std::uint32_t) { ++occurrences.starts[word]; });
  occurrences.sentences.resize(to_size(exclusive_sum(occurrences.starts)));
  std::vector<std::int64_t> next(occurrences.starts.begin(), occurrences.starts.end() - 1);
  each([&](WordId word, std::uint32_t s) { occurrences.sentences[to_size(next[word]++)] = s; });
  return occurrences;
}

// Distinct target words in the sentences of one source word; each chunk of work has one of these.
class Partners {
 public:
  explicit Partners(std::size_t n_target_words) : seen_(n_target_words, 0) {}
  const std::vector<WordId>& of(std::span<const std::uint32_t> sentences, TokensView target) {
    ++round_;
    found_.clear();
    for (const auto s : sentences)
      for (const auto word : target[s])
        if (seen_[word] != round_) {
          seen_[word] = round_;
          found_.push_back(word);
        }
    return found_;
  }

 private:
  std::vector<std::uint32_t> seen_;
  std::vector<WordId> found_;
  std::uint32_t round_ = 0;
};

}  // namespace

Lexicon::Entry& Lexicon::insert(std::span<Entry> row, WordId target) {
  std::size_t at = place(hash(target), row.size());
  while (row[at].target != kUnknownWord) at = at + 1 == row.size() ? 0 : at + 1;
  row[at].target = target;
  return row[at];
}

Lexicon::Lexicon(BitextView bitext, std::size_t n_source_words, std::size_t n_target_words,
                 const std::vector<std::uint8_t>& use, unsigned n_threads) {
  const auto occurrences = find_occurrences(bitext.source, n_source_words, use);
  // Enough words per chunk to justify its list of seen words; the first words are the frequent ones.
  constexpr std::size_t chunk = 256;
  const auto each = [&](const auto& visit) {
    parallel_chunks(n_source_words, chunk, n_threads, {}, [&](std::size_t begin, std::size_t end) {
      Partners partners(n_target_words);
      for (std::size_t word = begin; word < end; ++word) {
        const auto from = to_size(occurrences.starts[word]);
        const auto to = to_size(occurrences.starts[word + 1]);
        visit(word, partners.of(std::span(occurrences.sentences).subspan(from, to - from), bitext.target));
      }
    });
  };
  starts_.assign(n_source_words + 1, 0);
  each([&](std::size_t word, const std::vector<WordId>& targets) { starts_[word] = room(targets.size()); });
  entries_.assign(to_size(exclusive_sum(starts_)), Entry{});
  each([&](std::size_t word, const std::vector<WordId>& targets) {
    for (const auto target : targets) insert(row(static_cast<WordId>(word)), target);
  });
}

Lexicon::Lexicon(std::span<const std::int64_t> starts, std::span<const WordId> targets, std::span<const float> both) {
  if (starts.empty() || both.size() != 2 * targets.size()) throw Error("the arrays of the lexicon do not match");
  const std::size_t n = starts.size() - 1;
  starts_.assign(n + 1, 0);
  for (std::size_t word = 0; word < n; ++word) starts_[word] = room(slice(targets, starts, word).size());
  entries_.assign(to_size(exclusive_sum(starts_)), Entry{});
  for (std::size_t word = 0; word < n; ++word)
    for (auto k = to_size(starts[word]); k < to_size(starts[word + 1]); ++k) {
      auto& entry = insert(row(static_cast<WordId>(word)), targets[k]);
      entry.probability[kToTarget] = ShortProbability(both[2 * k]);
      entry.probability[kToSource] = ShortProbability(both[2 * k + 1]);
    }
}

}  // namespace hyperbaton
