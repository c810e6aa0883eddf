// The consistent phrase pairs of one sentence pair.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "align/links.hh"
#include "phrases/orientation.hh"

namespace hyperbaton {

// The links of one sentence pair, arranged so that a target span's tight source span and its consistency take O(1).
class PairMatrix {
 public:
  void reset(int n_source, int n_target, std::span<const Link> links) {
    n_source_ = n_source;
    n_target_ = n_target;
    least_.assign(n_target, n_source);
    greatest_.assign(n_target, -1);
    source_links_.assign(n_source + 1, 0);
    target_links_.assign(n_target + 1, 0);
    for (const auto link : links) {
      least_[link.target] = std::min<int>(least_[link.target], link.source);
      greatest_[link.target] = std::max<int>(greatest_[link.target], link.source);
      ++source_links_[link.source + 1];
      ++target_links_[link.target + 1];
    }
    for (int i = 0; i < n_source; ++i) source_links_[i + 1] += source_links_[i];
    for (int j = 0; j < n_target; ++j) target_links_[j + 1] += target_links_[j];
    // The length of the unlinked run at each source boundary.
    free_left_.assign(n_source + 1, 0);
    free_right_.assign(n_source + 1, n_source);
    for (int i = 0; i < n_source; ++i) free_left_[i + 1] = linked(i) ? i + 1 : free_left_[i];
    for (int i = n_source; i-- > 0;) free_right_[i] = linked(i) ? i : free_right_[i + 1];
  }

  int n_source() const { return n_source_; }
  int n_target() const { return n_target_; }
  bool linked(int source) const { return source_links_[source + 1] > source_links_[source]; }
  // Smallest and largest linked source position of a target word; n_source and -1 if it has none.
  int least(int target) const { return least_[target]; }
  int greatest(int target) const { return greatest_[target]; }
  int n_target_links(TargetSpan span) const { return target_links_[span.end] - target_links_[span.begin]; }
  // How far to the left and to the right of a boundary all source words are unlinked.
  int free_left(int boundary) const { return free_left_[boundary]; }
  int free_right(int boundary) const { return free_right_[boundary]; }

  // Call on_phrase(tight source span, target span) for each consistent target span that has a link. Spans longer than
  // max_length on either side are skipped.
  template <class OnPhrase>
  void for_each_tight(int max_length, const OnPhrase& on_phrase) const {
    for (int begin = 0; begin < n_target_; ++begin) {
      int first = n_source_, last = -1;
      const int limit = std::min(n_target_, begin + max_length);
      for (int end = begin + 1; end <= limit; ++end) {
        first = std::min(first, least_[end - 1]);
        last = std::max(last, greatest_[end - 1]);
        if (last < 0) continue;
        if (last - first >= max_length) break;  // it only grows
        // Every link of the target span lies in [first, last]; it is consistent if that contains no other links.
        const int in_source = source_links_[last + 1] - source_links_[first];
        if (in_source == target_links_[end] - target_links_[begin])
          on_phrase(SourceSpan{first, last + 1}, TargetSpan{begin, end});
      }
    }
  }

  // Call on_phrase(source span, target span) for each consistent phrase pair, unlinked edges included.
  template <class OnPhrase>
  void for_each(int max_length, const OnPhrase& on_phrase) const {
    for_each_tight(max_length, [&](SourceSpan tight, TargetSpan target) {
      const int least_begin = std::max(free_left(tight.begin), tight.end - max_length);
      for (int begin = tight.begin; begin >= least_begin; --begin) {
        const int greatest_end = std::min(free_right(tight.end), begin + max_length);
        for (int end = tight.end; end <= greatest_end; ++end) on_phrase(SourceSpan{begin, end}, target);
      }
    });
  }

 private:
  int n_source_ = 0, n_target_ = 0;
  std::vector<int> least_, greatest_, source_links_, target_links_, free_left_, free_right_;
};

}  // namespace hyperbaton
