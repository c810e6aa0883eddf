// What each stack is filled from: the hypotheses with one coverage, and the source spans that may follow them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "base/interner.hh"
#include "base/parallel.hh"
#include "base/size.hh"
#include "decode/chart.hh"
#include "decode/space.hh"

namespace hyperbaton {

struct SearchCounts {
  std::int64_t hypotheses = 0;  // scored steps
  std::int64_t spans = 0;       // source spans considered for extension
  std::int64_t spans_cut = 0;   // of these, forbidden by the limits
};

// Rows [first, last) of hypotheses, best first, each combined with all options of a span.
struct Grid {
  std::size_t first, last;
  const Space::Span* span;
};

class Grids {
 public:
  Grids(Space& space, const Chart& chart, SearchCounts& counts, Poll& poll)
      : space_(space), chart_(chart), counts_(counts), poll_(poll), grids_(to_size(space.n_words()) + 1) {}

  // Make the grids that start from a stack with these hypotheses, best first.
  void open(std::size_t s, std::span<const std::uint32_t> hypotheses) {
    Interner coverages;
    std::vector<std::vector<std::uint32_t>> groups;
    const std::size_t n = Coverage::n_words(space_.n_words());
    for (const auto id : hypotheses) {
      const auto [group, is_new] = coverages.number(std::span(chart_.state(id), n));
      if (is_new) groups.emplace_back();
      groups[group].push_back(id);
    }
    for (const auto& group : groups) open_group(s, group);
  }

  // The grids that lead to a stack, and how to forget them.
  std::span<const Grid> leading_to(std::size_t s) const { return grids_[s]; }
  void close(std::size_t s) { std::vector<Grid>().swap(grids_[s]); }
  std::uint32_t hypothesis(std::size_t row) const { return hypotheses_[row]; }

 private:
  // The hypotheses of a group for whose place accept(place) is true become [first_row_, last_row_). The rows of the
  // previous call are reused if they are equal, as they are without a distortion limit; long sentences would otherwise need
  // much memory.
  template <class Accept>
  void add_rows(const std::vector<std::uint32_t>& group, const Accept& accept) {
    const std::size_t at = hypotheses_.size();
    hypotheses_.resize(at + group.size());
    auto end = at;
    for (std::size_t i = 0; i < group.size(); ++i) {
      hypotheses_[end] = group[i];
      end += accept(i) ? 1 : 0;
    }
    hypotheses_.resize(end);
    if (std::equal(hypotheses_.begin() + static_cast<std::ptrdiff_t>(at), hypotheses_.end(),
                   hypotheses_.begin() + static_cast<std::ptrdiff_t>(first_row_),
                   hypotheses_.begin() + static_cast<std::ptrdiff_t>(last_row_))) {
      hypotheses_.resize(at);
    } else {
      first_row_ = at;
      last_row_ = hypotheses_.size();
    }
  }

  void open_group(std::size_t s, const std::vector<std::uint32_t>& group) {
    const std::uint32_t* state = chart_.state(group[0]);
    const Coverage covered = space_.coverage(state);
    const int first_gap = covered.next_gap(0);
    previous_ends_.clear();
    for (const auto id : group) previous_ends_.push_back(space_.previous_end(chart_.state(id)));
    for (int begin = first_gap; begin < space_.n_words(); begin = covered.next_gap(begin + 1)) {
      poll_();
      const auto spans = space_.spans_from(begin);
      const auto is_reachable = [&](std::size_t i) { return space_.reachable(previous_ends_[i], begin); };
      add_rows(group, is_reachable);
      const auto n_rows = static_cast<std::int64_t>(last_row_ - first_row_), n = static_cast<std::int64_t>(spans.size());
      counts_.spans += n * static_cast<std::int64_t>(group.size());
      counts_.spans_cut += n * (static_cast<std::int64_t>(group.size()) - n_rows);
      if (n_rows == 0) continue;
      const int gap_end = covered.next_covered(begin);
      for (const auto& span : spans) {
        if (span.source.end > gap_end) break;
        if (!space_.allowed(state, first_gap, span.source)) {
          counts_.spans_cut += n_rows;
          continue;
        }
        if (space_.skips_spans()) {
          add_rows(group, [&](std::size_t i) {
            return is_reachable(i) && !space_.skips(chart_.state(group[i]), first_gap, span.source);
          });
          counts_.spans_cut += n_rows - static_cast<std::int64_t>(last_row_ - first_row_);
          if (first_row_ == last_row_) continue;
        }
        grids_[s + to_size(span.source.end - begin)].push_back({first_row_, last_row_, &span});
      }
    }
  }

  Space& space_;
  const Chart& chart_;
  SearchCounts& counts_;
  Poll& poll_;
  std::vector<std::vector<Grid>> grids_;      // by the stack they lead to
  std::vector<std::uint32_t> hypotheses_;     // of the rows of grids
  std::vector<int> previous_ends_;            // of the hypotheses of a group
  std::size_t first_row_ = 0, last_row_ = 0;  // the rows of the previous position
};

}  // namespace hyperbaton
