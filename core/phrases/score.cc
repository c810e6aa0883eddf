#include "phrases/score.hh"

#include <algorithm>
#include <string>

#include "base/errors.hh"

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
      if (last - first > 1) {
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
      std::stable_sort(result.points.data() + result.offsets[k], out,
                       [](InnerLink a, InnerLink b) { return a.target < b.target; });
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
    for (std::size_t p = begin; p < end; ++p) {
      const auto src = pairs.source[p];
      for (auto k = static_cast<std::size_t>(pairs.offsets[p]); k < static_cast<std::size_t>(pairs.offsets[p + 1]); ++k) {
        const auto tgt = pairs.target[pairs.targets[k]];
        source_sums.assign(src.size(), {});
        target_sums.assign(tgt.size(), {});
        for (const auto link : pairs.links_of(k)) {
          const double* both = lexical.find(src[link.source], tgt[link.target]);
          target_sums[link.target].value += both ? both[0] : 0;
          source_sums[link.source].value += both ? both[1] : 0;
          ++target_sums[link.target].n;
          ++source_sums[link.source].n;
        }
        double target_given_source = 1, source_given_target = 1;
        for (std::size_t j = 0; j < tgt.size(); ++j) {
          const double* empty = target_sums[j].n ? nullptr : lexical.find(no_source, tgt[j]);
          target_given_source *= target_sums[j].n ? target_sums[j].value / target_sums[j].n : empty ? empty[0] : 1;
        }
        for (std::size_t i = 0; i < src.size(); ++i) {
          const double* empty = source_sums[i].n ? nullptr : lexical.find(src[i], no_target);
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
