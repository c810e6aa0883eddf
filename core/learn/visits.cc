#include "learn/visits.hh"

namespace hyperbaton {

Visits::Visits(const Problem& problem, std::vector<std::uint32_t> ids, Random& random)
    : problem_(problem), random_(random), order_(std::move(ids)), copy_(problem.rows.n_features(), problem.rows.options()) {
  std::size_t end = 0;
  for (std::size_t s = 0; s < problem.rows.n_shards(); ++s) {
    const std::size_t begin = end;
    while (end < order_.size() && order_[end] < problem.rows.begin(s + 1)) ++end;
    if (end == begin) continue;
    random.shuffle(std::span(order_).subspan(begin, end - begin));
    const auto& starts = problem.rows.shard(s).starts;
    groups_.push_back({begin, end - begin, static_cast<std::size_t>(starts.back() - starts.front()), {}});
  }
  activate_all();
  if (is_whole()) copy(groups_[0]);
}

std::vector<std::uint32_t> Visits::sample(std::size_t n) const {
  n = std::min(n, size());
  std::vector<std::uint32_t> ids(n);
  for (std::size_t j = 0; j < n; ++j) ids[j] = order_[size() * j / n];
  return ids;
}

void Visits::activate_all() {
  for (Group& group : groups_) {
    group.active.resize(group.n_rows);
    std::iota(group.active.begin(), group.active.end(), 0u);
  }
  n_active_ = size();
}

void Visits::put_back(std::vector<double>& per_place, std::size_t width) {
  for (std::size_t p = 0; p < size(); ++p) {
    while (order_[p] != p) {
      const std::size_t id = order_[p];
      std::swap_ranges(&per_place[p * width], &per_place[p * width] + width, &per_place[id * width]);
      std::swap(order_[p], order_[id]);
    }
  }
}

void Visits::copy(const Group& group) {
  constexpr std::size_t kFar = 16, kNear = 8;
  const Rows& rows = problem_.rows;
  const std::span<const std::uint32_t> active = group.active;
  starts_.assign(1, 0), indices_.clear(), values_.clear(), labels_.clear();
  starts_.reserve(active.size() + 1), labels_.reserve(active.size());
  indices_.reserve(group.n_entries);
  for (std::size_t t = 0; t < active.size(); ++t) {
    if (t + kFar < active.size()) rows.prefetch_place(order_[group.begin + active[t + kFar]]);
    if (t + kNear < active.size()) rows.prefetch_entries(order_[group.begin + active[t + kNear]]);
    const std::uint32_t i = order_[group.begin + active[t]];
    const Row row = rows[i];
    indices_.insert(indices_.end(), row.features.begin(), row.features.end());
    // A shard has values for all its rows or for none.
    if (row.values != nullptr) values_.insert(values_.end(), row.values, row.values + row.features.size());
    starts_.push_back(static_cast<std::int64_t>(indices_.size()));
    labels_.push_back(problem_.labels[i]);
  }
  copy_ = Rows(rows.n_features(), rows.options());
  copy_.add_trusted({starts_, indices_, values_.empty() ? nullptr : values_.data()});
}

void Visits::shuffle_runs(std::size_t n_rows) {
  runs_.resize((n_rows + kRun - 1) / kRun);
  std::iota(runs_.begin(), runs_.end(), 0u);
  random_.shuffle(std::span(runs_));
}

std::size_t Visits::close_gaps(Group& group) const {
  std::size_t n_kept = 0;
  for (std::size_t r = 0; r < n_kept_in_run_.size(); ++r)
    for (std::size_t t = r * kRun; t < r * kRun + n_kept_in_run_[r]; ++t) group.active[n_kept++] = group.active[t];
  group.active.resize(n_kept);
  return n_kept;
}

}  // namespace hyperbaton
