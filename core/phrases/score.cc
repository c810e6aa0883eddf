#include "phrases/score.hh"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/errors.hh"
#include "base/hash.hh"

namespace hyperbaton {

namespace {

constexpr std::size_t kChunk = 1 << 14;

// The sentence's links that fall into a sample. Its source span's links are consecutive, and consistency puts all of
// them into its target span.
std::span<const Link> links_inside(LinksView links, SpansView source, std::size_t sample) {
  const auto all = links[source.sentence[sample]];
  const auto begin = source.begin[sample], end = static_cast<std::uint16_t>(begin + source.length[sample]);
  const auto before = [](Link link, std::uint16_t position) { return link.source < position; };
  const auto first = std::lower_bound(all.begin(), all.end(), begin, before);
  const auto last = std::lower_bound(first, all.end(), end, before);
  return {first, last};
}

// A text that compares like Moses' lists of linked positions, one list for each word of the side that breaks ties.
void write_key(std::span<const Link> inside, int source_begin, int target_begin, std::size_t n_words, TiesBy ties,
               std::vector<std::string>& lists, std::string& key) {
  if (lists.size() < n_words) lists.resize(n_words);
  for (std::size_t i = 0; i < n_words; ++i) lists[i].clear();
  for (const auto link : inside) {
    const int i = link.source - source_begin, j = link.target - target_begin;
    if (ties == TiesBy::Target)
      lists[static_cast<std::size_t>(j)].push_back(static_cast<char>(i + 1));
    else
      lists[static_cast<std::size_t>(i)].push_back(static_cast<char>(j + 1));
  }
  key.clear();
  for (std::size_t i = 0; i < n_words; ++i) {
    key += lists[i];
    key.push_back('\0');
  }
}

// Whether two samples of a phrase pair have the same links inside.
bool same_links(std::span<const Link> a, std::span<const Link> b, int source_shift, int target_shift) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](Link x, Link y) {
    return x.source + source_shift == y.source && x.target + target_shift == y.target;
  });
}

// A stable sort, without its memory where links are few, as nearly always.
void sort_by_target(std::span<InnerLink> links) {
  const auto less = [](InnerLink a, InnerLink b) { return a.target < b.target; };
  if (links.size() > 16) {
    std::stable_sort(links.begin(), links.end(), less);
    return;
  }
  for (std::size_t i = 1; i < links.size(); ++i)
    for (auto j = i; j > 0 && less(links[j], links[j - 1]); --j) std::swap(links[j], links[j - 1]);
}

// Finds the probabilities of word pairs again that it found a moment ago: neighbouring phrases share words.
class RecentWordPairs {
 public:
  explicit RecentWordPairs(const LexicalTable& lexical) : lexical_(lexical), entries_(kEntries) {}
  const double* find(WordId source, WordId target) {
    const auto key = static_cast<std::uint64_t>(source) << 32 | target;
    auto& entry = entries_[mix(key) % kEntries];
    if (!entry.used || entry.key != key) entry = {key, lexical_.find(source, target), true};
    return entry.probabilities;
  }

 private:
  static constexpr std::size_t kEntries = 4096;  // 96 KiB
  struct Entry {
    std::uint64_t key = 0;
    const double* probabilities = nullptr;
    bool used = false;
  };
  const LexicalTable& lexical_;
  std::vector<Entry> entries_;
};

}  // namespace

InnerLinks most_frequent_links(Groups samples, SpansView source, SpansView target, LinksView links, TiesBy ties,
                               unsigned n_threads, const Progress& progress) {
  const std::size_t n = samples.size();
  std::vector<std::uint32_t> chosen(n);
  InnerLinks result;
  result.offsets.assign(n + 1, 0);
  parallel_chunks(n, kChunk, n_threads, progress, [&](std::size_t begin, std::size_t end) {
    struct Candidate {
      std::string key;
      std::size_t count;
      std::uint32_t sample;
    };
    std::vector<Candidate> candidates;
    std::vector<std::string> lists;
    std::string key;
    for (std::size_t k = begin; k < end; ++k) {
      const auto first = samples.offsets[k], last = samples.offsets[k + 1];
      chosen[k] = samples.order[static_cast<std::size_t>(first)];
      const auto links_of_first = links_inside(links, source, chosen[k]);
      const auto as_first = [&](std::uint32_t sample) {
        return same_links(links_of_first, links_inside(links, source, sample),
                          source.begin[sample] - source.begin[chosen[k]], target.begin[sample] - target.begin[chosen[k]]);
      };
      const auto* order = samples.order.data();
      if (!std::all_of(order + first + 1, order + last, as_first)) {
        candidates.clear();
        for (auto i = first; i < last; ++i) {
          const auto sample = samples.order[static_cast<std::size_t>(i)];
          const auto n_words = (ties == TiesBy::Target ? target : source).length[sample];
          write_key(links_inside(links, source, sample), source.begin[sample], target.begin[sample], n_words, ties, lists,
                    key);
          const auto known = std::find_if(candidates.begin(), candidates.end(),
                                          [&](const Candidate& candidate) { return candidate.key == key; });
          if (known == candidates.end())
            candidates.push_back({key, 1, sample});
          else
            ++known->count;
        }
        const auto best = std::max_element(candidates.begin(), candidates.end(), [](const auto& a, const auto& b) {
          return a.count != b.count ? a.count < b.count : a.key < b.key;
        });
        chosen[k] = best->sample;
      }
      result.offsets[k] = static_cast<std::int64_t>(links_inside(links, source, chosen[k]).size());
    }
  });
  result.points.resize(static_cast<std::size_t>(exclusive_sum(result.offsets)));
  parallel_chunks(n, kChunk, n_threads, {}, [&](std::size_t begin, std::size_t end) {
    for (std::size_t k = begin; k < end; ++k) {
      auto* out = result.points.data() + result.offsets[k];
      for (const auto link : links_inside(links, source, chosen[k]))
        *out++ = {static_cast<std::uint8_t>(link.source - source.begin[chosen[k]]),
                  static_cast<std::uint8_t>(link.target - target.begin[chosen[k]])};
      sort_by_target({result.points.data() + result.offsets[k], out});
    }
  });
  return result;
}

std::vector<double> lexical_weights(const PairsView& pairs, const LexicalTable& lexical, unsigned n_threads) {
  const std::size_t n_source_phrases = pairs.offsets.size() - 1;
  std::vector<double> weights(2 * pairs.targets.size());
  const auto no_source = static_cast<WordId>(lexical.sizes.source), no_target = static_cast<WordId>(lexical.sizes.target);
  parallel_chunks(n_source_phrases, kChunk, n_threads, {}, [&](std::size_t begin, std::size_t end) {
    struct Sum {
      double value = 0;
      int n = 0;
    };
    std::vector<Sum> source_sums, target_sums;
    RecentWordPairs recent(lexical);
    for (std::size_t p = begin; p < end; ++p) {
      const auto src = pairs.source[p];
      for (auto k = static_cast<std::size_t>(pairs.offsets[p]); k < static_cast<std::size_t>(pairs.offsets[p + 1]); ++k) {
        const auto tgt = pairs.target[pairs.targets[k]];
        source_sums.assign(src.size(), {});
        target_sums.assign(tgt.size(), {});
        for (const auto link : pairs.links_of(k)) {
          const double* both = recent.find(src[link.source], tgt[link.target]);
          target_sums[link.target].value += both ? both[0] : 0;
          source_sums[link.source].value += both ? both[1] : 0;
          ++target_sums[link.target].n;
          ++source_sums[link.source].n;
        }
        double target_given_source = 1, source_given_target = 1;
        for (std::size_t j = 0; j < tgt.size(); ++j) {
          const double* empty = target_sums[j].n ? nullptr : recent.find(no_source, tgt[j]);
          target_given_source *= target_sums[j].n ? target_sums[j].value / target_sums[j].n : empty ? empty[0] : 1;
        }
        for (std::size_t i = 0; i < src.size(); ++i) {
          const double* empty = source_sums[i].n ? nullptr : recent.find(src[i], no_target);
          source_given_target *= source_sums[i].n ? source_sums[i].value / source_sums[i].n : empty ? empty[1] : 1;
        }
        weights[2 * k] = source_given_target;
        weights[2 * k + 1] = target_given_source;
      }
    }
  });
  return weights;
}

std::vector<std::uint32_t> count_classes(Groups samples, std::span<const std::uint8_t> classes, std::size_t n_classes,
                                         unsigned n_threads) {
  std::vector<std::uint32_t> counts(samples.size() * n_classes, 0);
  parallel_chunks(samples.size(), kChunk, n_threads, {}, [&](std::size_t begin, std::size_t end) {
    for (std::size_t k = begin; k < end; ++k)
      for (const auto sample : slice(samples.order, samples.offsets, k)) {
        if (sample >= classes.size()) throw_damaged("there is no such sample");
        const auto c = classes[sample];
        if (c >= n_classes) throw Error("a class is out of range");
        ++counts[k * n_classes + c];
      }
  });
  return counts;
}

}  // namespace hyperbaton
