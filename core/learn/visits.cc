#include "learn/visits.hh"

namespace hyperbaton {

void visit_order(std::uint64_t seed, std::span<std::uint32_t> order) {
  std::iota(order.begin(), order.end(), 0u);
  Random(seed).shuffle(order);
}

Visits::Visits(const Problem& problem, Random& random)
    : Visits(problem, problem.order.empty() ? all_rows(problem.rows) : std::vector<std::uint32_t>(), random) {
  if (problem.order.empty()) return;
  const Shard& shard = problem.rows.shard(0);
  random.skip_shuffle(shard.size());
  copy_.add_trusted(shard);
  labels_ = problem.labels;
  groups_.push_back({0, shard.size(), 0, shard.size(), false, {}});
  n_active_ = shard.size();
}

Visits::Visits(const Problem& problem, std::vector<std::uint32_t> ids, Random& random)
    : problem_(problem), random_(random), order_(std::move(ids)), copy_(problem.rows.n_features(), problem.rows.options()) {
  std::size_t end = 0;
  for (std::size_t s = 0; s < problem.rows.n_shards(); ++s) {
    const std::size_t begin = end;
    while (end < order_.size() && order_[end] < problem.rows.begin(s + 1)) ++end;
    if (end == begin) continue;
    std::size_t n_entries = 0;
    for (std::size_t t = begin; t < end; ++t) n_entries += problem.rows[order_[t]].features.size();
    random.shuffle(std::span(order_).subspan(begin, end - begin));
    groups_.push_back({begin, end - begin, n_entries, 0, false, {}});
  }
  activate_all();
  if (is_whole()) copy(groups_[0]);
}

std::vector<std::uint32_t> Visits::sample(std::size_t n) const {
  n = std::min(n, size());
  std::vector<std::uint32_t> ids(n);
  for (std::size_t j = 0; j < n; ++j) {
    const std::size_t place = size() * j / n;
    ids[j] = is_ordered() ? static_cast<std::uint32_t>(place) : order_[place];
  }
  std::sort(ids.begin(), ids.end(),
            [&](std::uint32_t a, std::uint32_t b) { return is_ordered() ? problem_.order[a] < problem_.order[b] : a < b; });
  return ids;
}

void Visits::activate_all() {
  for (Group& group : groups_) {
    group.n_active = group.n_rows;
    group.is_listed = false;
  }
  n_active_ = size();
}

std::vector<std::uint32_t> Visits::active() const {
  const Group& group = groups_[0];
  std::vector<std::uint32_t> places(group.n_active);
  for (std::size_t t = 0; t < places.size(); ++t) places[t] = static_cast<std::uint32_t>(group[t]);
  return places;
}

void Visits::list_active(Group& group) const {
  if (group.is_listed) return;
  if (group.active.size() == 0) group.active = LargeArray<std::uint32_t>(group.n_rows, problem_.room);
  std::iota(group.active.begin(), group.active.end(), 0u);
  group.is_listed = true;
}

void Visits::put_back(LargeArray<double>& per_place, std::size_t width) {
  copy_ = Rows(problem_.rows.n_features(), problem_.rows.options());
  std::vector<FeatureId>().swap(indices_);
  std::vector<double>().swap(values_);
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
  const std::size_t n = group.n_active;
  starts_.assign(1, 0), indices_.clear(), values_.clear(), copied_labels_.clear();
  starts_.reserve(n + 1), copied_labels_.reserve(n);
  indices_.reserve(group.n_entries);
  for (std::size_t t = 0; t < n; ++t) {
    if (t + kFar < n) rows.prefetch_place(order_[group.begin + group[t + kFar]]);
    if (t + kNear < n) rows.prefetch_entries(order_[group.begin + group[t + kNear]]);
    const std::uint32_t i = order_[group.begin + group[t]];
    const Row row = rows[i];
    indices_.insert(indices_.end(), row.features.begin(), row.features.end());
    // A shard has values for all its rows or for none.
    if (row.values != nullptr) values_.insert(values_.end(), row.values, row.values + row.features.size());
    starts_.push_back(static_cast<std::int64_t>(indices_.size()));
    copied_labels_.push_back(problem_.labels[i]);
  }
  labels_ = copied_labels_;
  copy_ = Rows(rows.n_features(), rows.options());
  copy_.add_trusted({starts_, indices_, values_.empty() ? nullptr : values_.data()});
}

void Visits::shuffle_runs(std::size_t n_rows) {
  runs_.resize((n_rows + kRun - 1) / kRun);
  std::iota(runs_.begin(), runs_.end(), 0u);
  random_.shuffle(std::span(runs_));
}

std::size_t Visits::close_gaps(Group& group) const {
  if (!group.is_listed) return group.n_active;
  std::size_t n_kept = 0;
  for (std::size_t r = 0; r < n_kept_in_run_.size(); ++r)
    for (std::size_t t = r * kRun; t < r * kRun + n_kept_in_run_[r]; ++t) group.active[n_kept++] = group.active[t];
  return group.n_active = n_kept;
}

}  // namespace hyperbaton
