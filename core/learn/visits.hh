// Visits to rows in random order, pass after pass, with sequential memory access.
//
// Neighbouring rows of a corpus share most of their features; learners that visit them in order need two to three times
// as many passes, but fetching rows from all over memory takes twice the time. So the rows are copied once in a random
// order, and a pass walks short runs of the copy, with the runs in a new random order. With several shards, one is copied
// at a time in every pass: the copy is never larger than the largest shard. Code that creates the rows can create them in
// that order (`visit_order`), and then nothing is copied.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "base/size.hh"
#include "learn/random.hh"
#include "learn/trainer.hh"

namespace hyperbaton {

// The random order of n rows of one shard: row numbers by place.
void visit_order(std::uint64_t seed, std::span<std::uint32_t> order);

class Visits {
 public:
  // All rows. `random`, which must be fresh, is used in every pass.
  Visits(const Problem& problem, Random& random);
  // The rows `ids`, which must increase if there are several shards.
  Visits(const Problem& problem, std::vector<std::uint32_t> ids, Random& random);
  Visits(const Visits&) = delete;
  Visits& operator=(const Visits&) = delete;

  // A place is a row's number in the random order.
  std::size_t size() const { return is_ordered() ? problem_.rows.size() : order_.size(); }
  std::size_t n_active() const { return n_active_; }
  // At most n rows, evenly spread over the random order, in the order of the data.
  std::vector<std::uint32_t> sample(std::size_t n) const;
  Row row(std::size_t place) const { return is_whole() ? copy_[place] : problem_.rows[order_[place]]; }
  std::size_t label(std::size_t place) const { return problem_.label(is_ordered() ? place : order_[place]); }

  // One pass over the active rows: visit(place, row, label) returns whether the row stays active. `per_place` is an array
  // with `width` values for each place that the visit reads, to be prefetched; null: none.
  template <class Report, class Visit>
  void walk(const Report& report, const double* per_place, std::size_t width, const Visit& visit) {
    std::vector<std::uint32_t> turns(groups_.size());
    std::iota(turns.begin(), turns.end(), 0u);
    random_.shuffle(std::span(turns));
    std::size_t n_kept = 0, n_visits = 0;
    for (const std::uint32_t turn : turns) {
      Group& group = groups_[turn];
      if (!is_whole()) copy(group);
      shuffle_runs(group.n_active);
      n_kept_in_run_.assign(runs_.size(), 0);
      for (std::size_t r = 0; r < runs_.size(); ++r) {
        ask_for(group, r, per_place, width);
        const std::size_t begin = runs_[r] * kRun, end = std::min(begin + kRun, group.n_active);
        std::size_t kept = begin;
        for (std::size_t t = begin; t < end; ++t) {
          if (n_visits++ % kReportRows == 0) report();
          const std::size_t local = group[t], in_copy = is_whole() ? local : t;
          const bool keep = visit(group.begin + local, copy_[in_copy], to_size(labels_[in_copy]));
          if (!keep) list_active(group);
          if (keep && kept < t) group.active[kept] = static_cast<std::uint32_t>(local);
          kept += keep;
        }
        n_kept_in_run_[runs_[r]] = static_cast<std::uint8_t>(kept - begin);
      }
      n_kept += close_gaps(group);
    }
    n_active_ = n_kept;
  }

  void activate_all();
  // The active places of a single shard.
  std::vector<std::uint32_t> active() const;

  // Permute `width` values for each place into the order of the rows, in place. Only for visits of all rows in the order
  // of the data; ends the visits and frees the copy of the rows.
  void put_back(LargeArray<double>& per_place, std::size_t width);

 private:
  static constexpr std::size_t kRun = 16;

  // The rows of one shard: places begin … begin + n_rows - 1, of which begin + group[t] are active, increasing with t.
  struct Group {
    std::size_t begin, n_rows, n_entries;
    std::size_t n_active;
    bool is_listed;  // otherwise all are active
    LargeArray<std::uint32_t> active;

    std::size_t operator[](std::size_t t) const { return is_listed ? active[t] : t; }
  };

  bool is_whole() const { return groups_.size() == 1; }
  // Whether all rows are visited and are stored in visit order.
  bool is_ordered() const { return order_.empty(); }
  void list_active(Group& group) const;
  void copy(const Group& group);
  void shuffle_runs(std::size_t n_rows);
  std::size_t close_gaps(Group& group) const;

  // Prefetch the next runs.
  void ask_for(const Group& group, std::size_t r, const double* per_place, std::size_t width) const {
    constexpr std::size_t kFar = 4, kNear = 2;
    if (r + kFar < runs_.size()) {
      const std::size_t t = runs_[r + kFar] * kRun, in_copy = is_whole() ? group[t] : t;
      copy_.prefetch_place(in_copy);
      __builtin_prefetch(&labels_[in_copy]);
      if (per_place != nullptr) __builtin_prefetch(per_place + (group.begin + group[t]) * width);
    }
    if (r + kNear < runs_.size()) {
      const std::size_t t = runs_[r + kNear] * kRun;
      copy_.prefetch_entries(is_whole() ? group[t] : t);
    }
  }

  const Problem& problem_;
  Random& random_;
  std::vector<std::uint32_t> order_;  // row by place; empty if rows are stored in that order
  std::vector<Group> groups_;
  std::size_t n_active_ = 0;
  // The copy: of all rows by place if there is one shard, otherwise of a shard's active rows. Ordered rows are not
  // copied.
  std::vector<std::int64_t> starts_;
  std::vector<FeatureId> indices_;
  std::vector<double> values_;
  std::vector<Label> copied_labels_;
  std::span<const Label> labels_;
  Rows copy_;
  std::vector<std::uint32_t> runs_;
  std::vector<std::uint8_t> n_kept_in_run_;
};

}  // namespace hyperbaton
