// An n-gram that begins at word i occurs once in the hypothesis if it is longer than the common prefix of suffix i and
// any other suffix of the hypothesis. It occurs once in the reference if it is longer than the common prefix with the
// second most similar suffix of the reference, but no longer than with the most similar one. Neighbours in a suffix array
// give all three lengths.
#include "metrics/shared_words.hh"

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/size.hh"

namespace hyperbaton {

namespace {

using WordSpan = std::span<const std::uint32_t>;
constexpr std::uint32_t kNowhere = 0xffffffffU;

// The suffixes of hypothesis, separator and reference in order, by prefix doubling.
class Suffixes {
 public:
  Suffixes(WordSpan hypothesis, WordSpan reference) : n_(hypothesis.size() + 1 + reference.size()) {
    text_.assign(hypothesis.begin(), hypothesis.end());
    text_.push_back(kNowhere);  // no word
    text_.insert(text_.end(), reference.begin(), reference.end());
    sort();
    measure();
  }
  std::size_t size() const { return n_; }
  std::uint32_t operator[](std::size_t p) const { return order_[p]; }
  // The length of the common prefix of suffix p of the order and the previous one.
  std::uint32_t shared(std::size_t p) const { return shared_[p]; }

 private:
  void sort() {
    order_.resize(n_);
    rank_.resize(n_);
    std::iota(order_.begin(), order_.end(), 0U);
    std::ranges::sort(order_, {}, [&](std::uint32_t i) { return text_[i]; });
    number([&](std::uint32_t a, std::uint32_t b) { return text_[a] == text_[b]; });
    std::vector<std::uint64_t> keys(n_);
    for (std::size_t width = 1; rank_[order_.back()] + 1 < n_; width *= 2) {
      for (std::size_t i = 0; i < n_; ++i)
        keys[i] = std::uint64_t{rank_[i]} << 32 | (i + width < n_ ? rank_[i + width] + 1 : 0);
      std::ranges::sort(order_, {}, [&](std::uint32_t i) { return keys[i]; });
      number([&](std::uint32_t a, std::uint32_t b) { return keys[a] == keys[b]; });
    }
  }
  // Ranks in the current order; equal suffixes have equal ranks.
  template <class Same>
  void number(const Same& same) {
    std::vector<std::uint32_t> ranks(n_);
    for (std::size_t p = 1; p < n_; ++p) ranks[order_[p]] = ranks[order_[p - 1]] + (same(order_[p - 1], order_[p]) ? 0 : 1);
    rank_ = std::move(ranks);
  }
  // Suffix i + 1 shares at least as many words with its predecessor as suffix i, minus one.
  void measure() {
    shared_.assign(n_, 0);
    std::uint32_t length = 0;
    for (std::uint32_t i = 0; i < n_; ++i) {
      if (rank_[i] == 0) {
        length = 0;
        continue;
      }
      const auto j = order_[rank_[i] - 1];
      while (i + length < n_ && j + length < n_ && text_[i + length] == text_[j + length]) ++length;
      shared_[rank_[i]] = length;
      if (length > 0) --length;
    }
  }

  std::size_t n_;
  std::vector<std::uint32_t> text_, order_, rank_, shared_;
};

// The shortest n-gram that begins at a word of the hypothesis and occurs once on both sides, and its place in the
// reference.
struct UniqueNgram {
  std::uint32_t length = kNowhere, at = kNowhere;
};

std::vector<UniqueNgram> unique_ngrams(WordSpan hypothesis, WordSpan reference) {
  const Suffixes suffixes(hypothesis, reference);
  const auto n = static_cast<std::uint32_t>(hypothesis.size());
  // Common prefix of a suffix of the hypothesis with another one, and the two longest with suffixes of the reference.
  struct Similar {
    std::uint32_t own = 0, best = 0, second = 0, at = kNowhere;
    void offer(std::uint32_t length, std::uint32_t place) {
      if (length > best) {
        second = best;
        best = length;
        at = place;
      } else {
        second = std::max(second, length);
      }
    }
  };
  std::vector<Similar> similar(n);
  const auto walk = [&](auto position, auto shared) {
    std::uint32_t own = 0, near = 0, far = 0, near_at = kNowhere, far_at = kNowhere;
    for (std::size_t step = 0; step < suffixes.size(); ++step) {
      const std::uint32_t both = step == 0 ? 0 : shared(step);
      own = std::min(own, both), near = std::min(near, both), far = std::min(far, both);
      const auto i = suffixes[position(step)];
      if (i < n) {
        similar[i].own = std::max(similar[i].own, own);
        similar[i].offer(near, near_at);
        similar[i].offer(far, far_at);
        own = kNowhere;
      } else if (i > n) {
        far = near, far_at = near_at;
        near = kNowhere, near_at = i - n - 1;
      }
    }
  };
  const auto last = suffixes.size() - 1;
  walk([](std::size_t step) { return step; }, [&](std::size_t step) { return suffixes.shared(step); });
  walk([&](std::size_t step) { return last - step; }, [&](std::size_t step) { return suffixes.shared(last - step + 1); });
  std::vector<UniqueNgram> ngrams(n);
  for (std::uint32_t i = 0; i < n; ++i) {
    const auto length = std::max(similar[i].own, similar[i].second) + 1;
    if (length <= similar[i].best) ngrams[i] = {length, similar[i].at};
  }
  return ngrams;
}

std::int64_t count_increasing_pairs(std::vector<std::uint32_t> places) {
  // Bottom-up merge sort; pairs are counted if the right part is not larger.
  const std::size_t n = places.size();
  std::int64_t pairs = static_cast<std::int64_t>(n) * (static_cast<std::int64_t>(n) - 1) / 2;
  std::vector<std::uint32_t> merged(n);
  for (std::size_t width = 1; width < n; width *= 2) {
    for (std::size_t begin = 0; begin < n; begin += 2 * width) {
      const std::size_t middle = std::min(begin + width, n), end = std::min(begin + 2 * width, n);
      std::size_t i = begin, j = middle;
      for (std::size_t k = begin; k < end; ++k) {
        if (j == end || (i < middle && places[i] < places[j])) {
          merged[k] = places[i++];
        } else {
          pairs -= static_cast<std::int64_t>(middle - i);
          merged[k] = places[j++];
        }
      }
    }
    places.swap(merged);
  }
  return pairs;
}

// The place in the reference of each identifiable word of the hypothesis, in the order of the hypothesis. A word is
// identified by the shortest n-gram that begins with it (or, at equal length, ends with it) and occurs once on both
// sides.
std::vector<std::uint32_t> matched_places(WordSpan hypothesis, WordSpan reference) {
  const auto right = unique_ngrams(hypothesis, reference);
  const std::vector<std::uint32_t> reversed(hypothesis.rbegin(), hypothesis.rend()),
      reversed_reference(reference.rbegin(), reference.rend());
  const auto left = unique_ngrams(reversed, reversed_reference);
  std::vector<std::uint32_t> places;
  for (std::size_t i = 0; i < hypothesis.size(); ++i) {
    const UniqueNgram &after = right[i], &before = left[hypothesis.size() - 1 - i];
    if (after.at == kNowhere && before.at == kNowhere) continue;
    places.push_back(after.length <= before.length ? after.at
                                                   : static_cast<std::uint32_t>(reference.size()) - 1 - before.at);
  }
  return places;
}

}  // namespace

std::vector<SharedWords> count_shared_words(const WordsView& hypotheses, const WordsView& references,
                                            std::span<const std::int64_t> line, unsigned n_threads,
                                            const Progress& progress) {
  return count_pairs(hypotheses, references, line, kFewSentences, n_threads, progress,
                     [](WordSpan hypothesis, WordSpan reference, Poll&) -> SharedWords {
                       auto places = matched_places(hypothesis, reference);
                       const auto n = static_cast<std::int64_t>(places.size());
                       return {n, count_increasing_pairs(std::move(places))};
                     });
}

}  // namespace hyperbaton
