#include "phrases/score.hh"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "base/errors.hh"
#include "base/size.hh"
#include "phrases/lexical_weigher.hh"

namespace hyperbaton {

namespace {

constexpr std::size_t kPairsAtOnce = 1 << 14;

// The links of a sample, and where its phrases begin in the sentence pair.
struct Occurrence {
  std::span<const Link> links;
  std::uint16_t source_begin, target_begin;
};

// The links of a sample's source span are consecutive, and by consistency all of them are in its target span.
Occurrence occurrence(const SamplesInText& text, std::size_t sample, std::size_t n_source_words) {
  const auto all = text.links[text.sentence[sample]];
  const auto begin = text.source_begin[sample];
  const auto end = begin + n_source_words;
  const auto before = [](Link link, std::uint16_t position) { return link.source < position; };
  const auto first = std::lower_bound(all.begin(), all.end(), begin, before);
  auto last = first;
  while (last != all.end() && last->source < end) ++last;
  return {{first, last}, begin, text.target_begin[sample]};
}

// Whether two samples of a phrase pair have the same inner links.
bool same_links(const Occurrence& a, const Occurrence& b) {
  const int source_shift = b.source_begin - a.source_begin, target_shift = b.target_begin - a.target_begin;
  return std::equal(a.links.begin(), a.links.end(), b.links.begin(), b.links.end(), [&](Link x, Link y) {
    return x.source + source_shift == y.source && x.target + target_shift == y.target;
  });
}

// A stable sort that allocates nothing if there are few links, as is usual.
void sort_by_target(std::span<InnerLink> links) {
  const auto less = [](InnerLink a, InnerLink b) { return a.target < b.target; };
  if (links.size() > 16) {
    std::stable_sort(links.begin(), links.end(), less);
    return;
  }
  for (std::size_t i = 1; i < links.size(); ++i)
    for (auto j = i; j > 0 && less(links[j], links[j - 1]); --j) std::swap(links[j], links[j - 1]);
}

// Append the links of a sample, in order.
void append_links(std::vector<InnerLink>& links, const Occurrence& occurrence, OrderBy order) {
  const auto n_before = links.size();
  for (const auto link : occurrence.links)
    links.push_back({static_cast<std::uint8_t>(link.source - occurrence.source_begin),
                     static_cast<std::uint8_t>(link.target - occurrence.target_begin)});
  if (order == OrderBy::Target) sort_by_target(std::span(links).subspan(n_before));
}

// Chooses the most frequent links of a phrase pair.
class FrequentLinks {
 public:
  // Count the links of the samples of a pair.
  void reset(const SamplesInText& text, std::span<const std::uint32_t> samples, std::size_t n_source_words) {
    candidates_.assign(1, {occurrence(text, samples[0], n_source_words), 1});
    for (const auto sample : samples.subspan(1)) {
      const auto next = occurrence(text, sample, n_source_words);
      const auto known = std::ranges::find_if(candidates_, [&](const auto& c) { return same_links(c.occurrence, next); });
      if (known == candidates_.end())
        candidates_.push_back({next, 1});
      else
        ++known->count;
    }
    if (unique()) return;
    const auto most = std::ranges::max_element(candidates_, {}, &Candidate::count)->count;
    std::erase_if(candidates_, [&](const Candidate& candidate) { return candidate.count < most; });
  }

  // Whether some links are more frequent than all others.
  bool unique() const { return candidates_.size() == 1; }

  // The most frequent links; ties go to the greatest in Moses' order, which compares the linked positions word by word on
  // one side.
  Occurrence greatest(OrderBy order) {
    auto* best = candidates_.data();
    for (auto& candidate : std::span(candidates_).subspan(1)) {
      best_links_.clear();
      links_.clear();
      append_links(best_links_, best->occurrence, order);
      append_links(links_, candidate.occurrence, order);
      if (links_less(best_links_, links_, order)) best = &candidate;
    }
    return best->occurrence;
  }

 private:
  struct Candidate {
    Occurrence occurrence;
    std::size_t count;
  };
  std::vector<Candidate> candidates_;
  std::vector<InnerLink> best_links_, links_;
};

}  // namespace

bool links_less(std::span<const InnerLink> a, std::span<const InnerLink> b, OrderBy order) {
  // If one list has a link of an earlier word, the other's list for that word has ended, and is smaller.
  return std::ranges::lexicographical_compare(a, b, [&](InnerLink x, InnerLink y) {
    if (order == OrderBy::Source) return x.source != y.source ? x.source > y.source : x.target < y.target;
    return x.target != y.target ? x.target > y.target : x.source < y.source;
  });
}

std::vector<LexicalWeights> lexical_weights(const PairsView& pairs, const LexicalTable& lexical, unsigned n_threads) {
  std::vector<LexicalWeights> weights(pairs.targets.size());
  parallel_chunks(pairs.source.size(), kPairsAtOnce, n_threads, {}, [&](std::size_t begin, std::size_t end) {
    LexicalWeigher weigh(lexical);
    for (std::size_t p = begin; p < end; ++p) {
      auto k = pairs.offsets[p];
      for (const auto target : pairs.targets_of(p)) {
        weights[k] = weigh(pairs.source[p], pairs.target[target], pairs.links_of(k));
        ++k;
      }
    }
  });
  return weights;
}

LexicalScores lexical_scores(const PairsView& pairs, Groups samples, const SamplesInText& text, const LexicalTable& lexical,
                             unsigned n_threads, const Progress& progress) {
  const std::size_t n = pairs.targets.size(), n_sources = pairs.source.size();
  if (samples.size() != n) throw Error("the samples do not match the pairs");
  LexicalScores scores;
  scores.weights.resize(n);
  scores.links.offsets.assign(n + 1, 0);
  std::vector<std::vector<InnerLink>> points((n_sources + kPairsAtOnce - 1) / kPairsAtOnce);
  parallel_chunks(n_sources, kPairsAtOnce, n_threads, progress, [&](std::size_t begin, std::size_t end) {
    auto& mine = points[begin / kPairsAtOnce];
    std::vector<InnerLink> by_source;
    FrequentLinks frequent;
    LexicalWeigher weigh(lexical);
    for (std::size_t p = begin; p < end; ++p) {
      const auto src = pairs.source[p];
      auto k = pairs.offsets[p];
      for (const auto target : pairs.targets_of(p)) {
        const auto tgt = pairs.target[target];
        frequent.reset(text, slice(samples.order, samples.offsets, k), src.size());
        const auto n_before = mine.size();
        append_links(mine, frequent.greatest(OrderBy::Target), OrderBy::Target);
        const auto links = std::span(mine).subspan(n_before);
        scores.links.offsets[k] = static_cast<std::int64_t>(links.size());
        scores.weights[k] = weigh(src, tgt, links);
        if (!frequent.unique()) {
          by_source.clear();
          append_links(by_source, frequent.greatest(OrderBy::Source), OrderBy::Source);
          scores.weights[k].source_given_target = weigh(src, tgt, by_source).source_given_target;
        }
        ++k;
      }
    }
  });
  scores.links.points.reserve(to_size(exclusive_sum(scores.links.offsets)));
  for (auto& mine : points) {
    scores.links.points.insert(scores.links.points.end(), mine.begin(), mine.end());
    std::vector<InnerLink>().swap(mine);
  }
  return scores;
}

std::vector<double> class_probabilities(std::span<const std::int64_t> offsets,
                                        std::span<const std::span<const std::uint8_t>> classes, std::size_t n_classes,
                                        double smoothing, unsigned n_threads) {
  const auto n_items = offsets.size() - 1;
  std::vector<double> probabilities(n_items * classes.size() * n_classes);
  const double mass = smoothing * static_cast<double>(n_classes);
  parallel_chunks(n_items, kPairsAtOnce, n_threads, {}, [&](std::size_t begin, std::size_t end) {
    std::vector<std::uint32_t> counts(n_classes);
    auto* out = probabilities.data() + begin * classes.size() * n_classes;
    for (std::size_t k = begin; k < end; ++k) {
      const auto total = static_cast<double>(offsets[k + 1] - offsets[k]) + mass;
      for (const auto& block : classes) {
        std::ranges::fill(counts, 0);
        for (const auto c : slice(block, offsets, k)) {
          if (c >= n_classes) throw Error("a class is out of range");
          ++counts[c];
        }
        for (const auto count : counts) *out++ = (count + smoothing) / total;
      }
    }
  });
  return probabilities;
}

}  // namespace hyperbaton
