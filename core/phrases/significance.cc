#include "phrases/significance.hh"

#include <algorithm>
#include <atomic>
#include <cmath>

#include "base/math.hh"
#include "base/size.hh"
#include "phrases/phrase_index.hh"

namespace hyperbaton {

namespace {

constexpr std::size_t kSentencesAtOnce = 256;

// Finds the distinct phrases of one side that occur in a sentence.
class Finder {
 public:
  explicit Finder(const PhrasesView& phrases) : index_(phrases) {
    for (std::size_t p = 0; p < phrases.size(); ++p) max_length_ = std::max(max_length_, phrases[p].size());
  }
  // Sorted.
  void find(std::span<const WordId> sentence, std::vector<std::uint32_t>& phrases) const {
    phrases.clear();
    for (std::size_t begin = 0; begin < sentence.size(); ++begin)
      for (std::size_t n = 1; n <= std::min(max_length_, sentence.size() - begin); ++n)
        if (const auto phrase = index_.find(sentence.subspan(begin, n)); phrase != kNoPhrase) phrases.push_back(phrase);
    std::ranges::sort(phrases);
    const auto rest = std::ranges::unique(phrases);
    phrases.erase(rest.begin(), rest.end());
  }

 private:
  PhraseIndex index_;
  std::size_t max_length_ = 0;
};

void add_one(std::uint32_t& count) { std::atomic_ref(count).fetch_add(1, std::memory_order_relaxed); }

// ln n!, by Stirling's series, which unlike lgamma needs no global state.
double log_factorial(double n) {
  if (n < 32) {
    double product = 1;
    for (double i = 2; i <= n; ++i) product *= i;
    return math::log(product);
  }
  const double inverse = 1 / n, square = inverse * inverse;
  constexpr double half_log_two_pi = 0.91893853320467274178;
  return (n + 0.5) * math::log(n) - n + half_log_two_pi + inverse * (1.0 / 12 - square * (1.0 / 360 - square / 1260));
}

double log_choose(double n, double k) { return log_factorial(n) - log_factorial(k) - log_factorial(n - k); }

}  // namespace

Occurring count_occurring(const PairsView& pairs, TokensView source, TokensView target, unsigned n_threads,
                          const Progress& progress) {
  const Finder sources(pairs.source), targets(pairs.target);
  Occurring result;
  result.source.assign(pairs.source.size(), 0);
  result.target.assign(pairs.target.size(), 0);
  result.pairs.assign(pairs.targets.size(), 0);
  parallel_chunks(source.offsets.size() - 1, kSentencesAtOnce, n_threads, progress,
                  [&](std::size_t begin, std::size_t end) {
                    std::vector<std::uint32_t> src, tgt;
                    for (std::size_t s = begin; s < end; ++s) {
                      sources.find(slice(source.tokens, source.offsets, s), src);
                      targets.find(slice(target.tokens, target.offsets, s), tgt);
                      for (const auto t : tgt) add_one(result.target[t]);
                      for (const auto p : src) {
                        add_one(result.source[p]);
                        const auto options = pairs.targets_of(p);
                        const auto first = pairs.offsets[p];
                        // Both lists are sorted: look up the members of the shorter one in the longer one.
                        if (options.size() <= tgt.size()) {
                          for (std::size_t k = 0; k < options.size(); ++k)
                            if (std::ranges::binary_search(tgt, options[k])) add_one(result.pairs[first + k]);
                        } else {
                          auto at = options.begin();
                          for (const auto t : tgt) {
                            at = std::lower_bound(at, options.end(), t);
                            if (at == options.end()) break;
                            if (*at == t) add_one(result.pairs[first + to_size(at - options.begin())]);
                          }
                        }
                      }
                    }
                  });
  return result;
}

double significance(std::uint64_t both, std::uint64_t source, std::uint64_t target, std::uint64_t n) {
  const auto least = std::min(source, target);
  if (source > n || target > n || both > least) throw Error("phrases co-occur more often than one of them occurs");
  if (both == 0 || both + n <= source + target) return 0;  // certain
  const auto k = static_cast<double>(both), a = static_cast<double>(source), b = static_cast<double>(target),
             all = static_cast<double>(n);
  // The first term, and the others as multiples of it.
  const double first = log_choose(a, k) + log_choose(all - a, b - k) - log_choose(all, b);
  double sum = 1, term = 1;
  for (double i = k; i < static_cast<double>(least); ++i) {
    term *= (a - i) * (b - i) / ((i + 1) * (all - a - b + i + 1));
    sum += term;
    if (term < 1e-17 * sum || !std::isfinite(sum)) break;
  }
  return std::isfinite(sum) ? std::max(0.0, -(first + math::log(sum))) : 0;
}

}  // namespace hyperbaton
