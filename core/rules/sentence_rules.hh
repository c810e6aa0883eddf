// The hierarchical rules of one sentence pair (Chiang 2007, section 3.1): phrase pairs in which shorter phrase pairs are
// replaced by gaps.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "phrases/pair_matrix.hh"
#include "rules/rule_symbols.hh"

namespace hyperbaton {

// Lengths in words, or in symbols (words and gaps). A rule has at least one linked word, and gaps are not adjacent on the
// source side.
struct RuleLimits {
  int max_span;     // of the phrase pair, either side
  int max_symbols;  // of the source side
  int max_gaps;
  int min_gap;  // least number of source words of a gap
};

struct PhrasePair {
  SourceSpan source;
  TargetSpan target;
};

class SentenceRules {
 public:
  // Call on_rule(phrase pair, gaps in source order, count) for each rule. The rules of a phrase pair share a count of 1.
  // Phrase pairs are sorted by target length, target begin, decreasing source begin and source end, as in Moses, which
  // matters when counts are added.
  template <class OnRule>
  void for_each(int n_source, int n_target, std::span<const Link> links, const RuleLimits& limits, const OnRule& on_rule) {
    matrix_.reset(n_source, n_target, links);
    pairs_.clear();
    matrix_.for_each(limits.max_span, [&](SourceSpan src, TargetSpan tgt) { pairs_.push_back({src, tgt}); });
    // Pairs are sorted by target begin: those that begin at j are first_[j] to first_[j + 1].
    first_.assign(to_size(n_target) + 1, pairs_.size());
    for (std::size_t k = pairs_.size(); k-- > 0;) first_[to_size(pairs_[k].target.begin)] = k;
    for (std::size_t j = first_.size() - 1; j-- > 0;) first_[j] = std::min(first_[j], first_[j + 1]);
    order_.resize(pairs_.size());
    for (std::size_t k = 0; k < pairs_.size(); ++k) order_[k] = k;
    std::stable_sort(order_.begin(), order_.end(), [&](std::size_t a, std::size_t b) {
      const auto x = pairs_[a].target, y = pairs_[b].target;
      return x.end - x.begin != y.end - y.begin ? x.end - x.begin < y.end - y.begin : x.begin < y.begin;
    });
    for (const auto k : order_) rules_of(pairs_[k], limits, on_rule);
  }

 private:
  struct Gaps {
    std::array<PhrasePair, kMaxGaps> gaps;
    std::size_t n;
  };

  template <class OnRule>
  void rules_of(const PhrasePair& phrase, const RuleLimits& limits, const OnRule& on_rule) {
    const int n_source = phrase.source.end - phrase.source.begin, n_target = phrase.target.end - phrase.target.begin;
    const int n_links = matrix_.n_target_links(phrase.target);
    rules_.clear();
    if (n_source <= limits.max_symbols) rules_.push_back({{}, 0});
    if (limits.max_gaps > 0) find_inside(phrase, limits.min_gap);
    for (std::size_t a = 0; a < inside_.size() && limits.max_gaps > 0; ++a) {
      const auto& first = inside_[a];
      const int source_left = n_source - size(first.source), target_left = n_target - size(first.target);
      const int links_left = n_links - matrix_.n_target_links(first.target);
      if (source_left < 1 || target_left < 1 || links_left < 1) continue;
      if (source_left + 1 <= limits.max_symbols) rules_.push_back({{first}, 1});
      if (limits.max_gaps < 2) continue;
      for (std::size_t b = a + 1; b < inside_.size(); ++b) {
        const auto& second = inside_[b];
        if (second.target.begin < first.target.end) continue;
        const bool straight = second.source.begin > first.source.end, swapped = second.source.end < first.source.begin;
        if (!straight && !swapped) continue;
        const int n_words = source_left - size(second.source);
        if (n_words < 1 || n_words + 2 > limits.max_symbols || target_left - size(second.target) < 1 ||
            links_left - matrix_.n_target_links(second.target) < 1)
          continue;
        rules_.push_back(straight ? Gaps{{first, second}, 2} : Gaps{{second, first}, 2});
      }
    }
    if (rules_.empty()) return;
    const auto count = static_cast<float>(1.0 / static_cast<double>(rules_.size()));
    for (const auto& rule : rules_) on_rule(phrase, std::span(rule.gaps).first(rule.n), count);
  }

  // The phrase pairs inside another one that are long enough to be gaps, by target begin. A pair with the same target
  // side is not inside.
  void find_inside(const PhrasePair& phrase, int min_gap) {
    inside_.clear();
    for (int begin = phrase.target.begin; begin < phrase.target.end; ++begin)
      for (std::size_t k = first_[to_size(begin)]; k < first_[to_size(begin) + 1]; ++k) {
        const auto& pair = pairs_[k];
        if (pair.target.end > phrase.target.end) break;  // sorted by target end
        if (pair.source.begin < phrase.source.begin || pair.source.end > phrase.source.end) continue;
        if (size(pair.source) < min_gap) continue;
        if (pair.target.begin == phrase.target.begin && pair.target.end == phrase.target.end) continue;
        inside_.push_back(pair);
      }
  }

  static int size(auto span) { return span.end - span.begin; }

  PairMatrix matrix_;
  std::vector<PhrasePair> pairs_, inside_;
  std::vector<std::size_t> first_, order_;
  std::vector<Gaps> rules_;
};

}  // namespace hyperbaton
