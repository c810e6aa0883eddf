#include "phrases/composition.hh"

#include <algorithm>

#include "base/math.hh"
#include "base/size.hh"
#include "phrases/phrase_index.hh"

namespace hyperbaton {

namespace {

constexpr std::size_t kPhrasesAtOnce = 256;

// The numbers of both halves of phrases, for each split point.
class Halves {
 public:
  explicit Halves(const PhrasesView& phrases) : phrases_(phrases), index_(phrases) {}
  struct Cut {
    std::uint32_t front, back;
  };
  void cut(std::size_t phrase, std::vector<Cut>& cuts) const {
    const auto words = phrases_[phrase];
    cuts.clear();
    for (std::size_t i = 1; i < words.size(); ++i)
      cuts.push_back({index_.find(words.first(i)), index_.find(words.subspan(i))});
  }

 private:
  PhrasesView phrases_;
  PhraseIndex index_;
};

}  // namespace

std::vector<double> composed_logprobs(const PairsView& pairs, std::span<const double> logprobs, unsigned n_threads,
                                      const Progress& progress) {
  if (logprobs.size() != pairs.targets.size()) throw Error("probabilities and pairs differ in number");
  const Halves sources(pairs.source), targets(pairs.target);
  std::vector<double> composed(logprobs.size(), -kInfinity);
  // The score of a pair: as listed, or of its best composition if that is higher.
  const auto best = [&](std::uint32_t source, std::uint32_t target) {
    if (source == kNoPhrase || target == kNoPhrase) return -kInfinity;
    const auto row = pairs.targets_of(source);
    const auto place = std::ranges::lower_bound(row, target);
    if (place == row.end() || *place != target) return -kInfinity;
    const auto pair = pairs.offsets[source] + to_size(place - row.begin());
    return std::max(logprobs[pair], composed[pair]);
  };
  // Halves have shorter source phrases: pairs with the same source length are independent of each other.
  std::vector<std::vector<std::uint32_t>> by_length;
  for (std::size_t p = 0; p < pairs.source.size(); ++p) {
    const std::size_t length = pairs.source[p].size();
    if (by_length.size() <= length) by_length.resize(length + 1);
    by_length[length].push_back(static_cast<std::uint32_t>(p));
  }
  std::size_t done = 0;
  for (const auto& phrases : by_length) {
    const Progress report = [&](std::size_t now, std::size_t) {
      return !progress || progress(done + now, pairs.source.size());
    };
    parallel_chunks(phrases.size(), kPhrasesAtOnce, n_threads, report, [&](std::size_t begin, std::size_t end) {
      std::vector<Halves::Cut> source_cuts, target_cuts;
      for (std::size_t at = begin; at < end; ++at) {
        sources.cut(phrases[at], source_cuts);
        if (source_cuts.empty()) continue;
        auto pair = pairs.offsets[phrases[at]];
        for (const auto target : pairs.targets_of(phrases[at])) {
          targets.cut(target, target_cuts);
          double most = -kInfinity;
          for (const auto& source : source_cuts)
            for (const auto& both : target_cuts) {
              if (const double first = best(source.front, both.front); first > most)
                most = std::max(most, first + best(source.back, both.back));
              if (const double first = best(source.front, both.back); first > most)
                most = std::max(most, first + best(source.back, both.front));
            }
          composed[pair++] = most;
        }
      }
    });
    done += phrases.size();
  }
  return composed;
}

}  // namespace hyperbaton
