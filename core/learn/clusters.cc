#include "learn/clusters.hh"

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>

#include "base/columns.hh"
#include "base/hash.hh"
#include "base/size.hh"
#include "learn/alike_features.hh"

namespace hyperbaton {

namespace {

// Consecutive clusters are processed together until they have this many rows.
constexpr std::int64_t kRowsTogether = 4096;
constexpr std::size_t kScoreChunk = 4096;

std::span<const std::uint32_t> members_of(const RowGroups& groups, std::size_t c) {
  const auto begin = to_size(groups.starts[c]), end = to_size(groups.starts[c + 1]);
  return std::span(groups.rows.begin(), groups.rows.size()).subspan(begin, end - begin);
}

// An entry of the rows of a cluster: its feature, and its index among all entries.
struct Entry {
  FeatureId feature;
  std::uint32_t place;
};

// Radix sort by feature; `other` is scratch space.
void sort_by_feature(std::vector<Entry>& entries, std::vector<Entry>& other, std::size_t n_features) {
  constexpr unsigned kBits = 8;
  constexpr std::size_t kDigits = std::size_t{1} << kBits;
  other.resize(entries.size());
  for (unsigned shift = 0; (n_features - 1) >> shift != 0; shift += kBits) {
    const auto digit = [&](const Entry& entry) { return (to_size(entry.feature) >> shift) % kDigits; };
    std::array<std::uint32_t, kDigits> next{};
    for (const Entry& entry : entries) ++next[digit(entry)];
    exclusive_sum(next);
    for (const Entry& entry : entries) other[next[digit(entry)]++] = entry;
    entries.swap(other);
  }
}

// A worker's copy of one cluster at a time, with its features renumbered from 0.
class LocalProblem {
 public:
  LocalProblem(const Problem& problem, bool merge_features) : problem_(problem), merge_features_(merge_features) {}

  Fit train(const Trainer& trainer, std::span<const std::uint32_t> members, std::span<const std::uint32_t> judges,
            std::uint64_t seed, Poll& poll) {
    training_.copy(problem_.rows, problem_.labels, members);
    number_features();
    copy_prior(members);
    const bool merge = judges.empty() && find_alike();
    const std::size_t n_features = merge ? alike_.n_groups() : ids_.size();
    if (merge) alike_.merge(training_.starts, training_.indices, training_.values);
    const Rows rows = training_.rows(n_features, problem_.rows.options());
    std::optional<Rows> judging_rows;
    std::optional<Validation> validation;
    if (!judges.empty()) {
      judging_.copy(problem_.validation->rows, problem_.validation->labels, judges);
      keep_known(judging_);
      judging_rows.emplace(judging_.rows(ids_.size(), problem_.rows.options()));
      validation.emplace(*judging_rows, judging_.labels);
    }
    const Problem local{rows,
                        training_.labels,
                        problem_.n_classes,
                        prior_,
                        seed,
                        1,
                        [&](std::size_t, std::size_t) {
                          poll.check();
                          return true;
                        },
                        validation ? &*validation : nullptr};
    Fit fit = hyperbaton::train(trainer, local);
    if (merge) fit.weights = alike_.split(fit.weights, problem_.n_classes);
    return fit;
  }
  // The features of the cluster, increasing, without the constant.
  const std::vector<FeatureId>& ids() const { return ids_; }

 private:
  // Some rows.
  struct Copy {
    std::vector<std::int64_t> starts;
    std::vector<FeatureId> indices;
    std::vector<double> values;
    std::vector<Label> labels;

    void copy(const Rows& from, std::span<const Label> all_labels, std::span<const std::uint32_t> members) {
      starts.assign(1, 0), indices.clear(), values.clear(), labels.clear();
      for (const std::uint32_t i : members) {
        const auto [features, row_values] = from.entries(i);
        if (row_values != nullptr) values.resize(indices.size(), 1.0);
        indices.insert(indices.end(), features.begin(), features.end());
        if (row_values != nullptr) values.insert(values.end(), row_values, row_values + features.size());
        starts.push_back(static_cast<std::int64_t>(indices.size()));
        labels.push_back(all_labels[i]);
      }
      if (!values.empty()) values.resize(indices.size(), 1.0);
    }
    Rows rows(std::size_t n_features, const RowOptions& options) const {
      Rows made(n_features, options);
      made.add_trusted({starts, indices, values.empty() ? nullptr : values.data()});
      return made;
    }
  };

  // Number the features of the training rows.
  void number_features() {
    auto& indices = training_.indices;
    entries_.resize(indices.size());
    for (std::size_t j = 0; j < indices.size(); ++j) entries_[j] = {indices[j], static_cast<std::uint32_t>(j)};
    sort_by_feature(entries_, other_entries_, problem_.rows.n_features());
    ids_.clear();
    for (const Entry& entry : entries_) {
      if (ids_.empty() || ids_.back() != entry.feature) ids_.push_back(entry.feature);
      indices[entry.place] = static_cast<FeatureId>(ids_.size() - 1);
    }
  }

  // Whether some features have identical rows and may be merged.
  bool find_alike() {
    if (!merge_features_ || !training_.values.empty()) return false;
    alike_.find(training_.starts, training_.indices, ids_.size());
    return alike_.any();
  }

  // Number the features of other rows in this way, and drop unknown ones.
  void keep_known(Copy& rows) const {
    std::size_t from = 0, to = 0;
    for (std::size_t i = 1; i < rows.starts.size(); ++i) {
      for (; from < to_size(rows.starts[i]); ++from) {
        const auto id = std::lower_bound(ids_.begin(), ids_.end(), rows.indices[from]);
        if (id == ids_.end() || *id != rows.indices[from]) continue;
        rows.indices[to] = static_cast<FeatureId>(id - ids_.begin());
        if (!rows.values.empty()) rows.values[to] = rows.values[from];
        ++to;
      }
      rows.starts[i] = static_cast<std::int64_t>(to);
    }
    rows.indices.resize(to);
    if (!rows.values.empty()) rows.values.resize(to);
  }

  void copy_prior(std::span<const std::uint32_t> members) {
    prior_.clear();
    if (problem_.log_prior.empty()) return;
    for (const std::uint32_t i : members) {
      const auto prior = problem_.log_prior.subspan(i * problem_.n_classes, problem_.n_classes);
      prior_.insert(prior_.end(), prior.begin(), prior.end());
    }
  }

  const Problem& problem_;
  const bool merge_features_;
  AlikeFeatures alike_;
  Copy training_, judging_;
  std::vector<FeatureId> ids_;  // the feature of each number
  std::vector<Entry> entries_, other_entries_;
  std::vector<double> prior_;
};

std::vector<std::size_t> cut_chunks(const RowGroups& groups, std::size_t n_clusters) {
  std::vector<std::size_t> chunks{0};
  for (std::size_t c = 0; c < n_clusters; ++c)
    if (groups.starts[c + 1] - groups.starts[chunks.back()] >= kRowsTogether || c + 1 == n_clusters)
      chunks.push_back(c + 1);
  return chunks;
}

}  // namespace

ClusterWeights fit_clusters(const Trainer& trainer, const Problem& problem, std::span<const std::int64_t> clusters,
                            std::size_t n_clusters, std::size_t first_cluster, bool merge_features,
                            std::span<const std::int64_t> validation_clusters) {
  const RowGroups groups = group_rows(clusters, n_clusters, {});
  const RowGroups judges = group_rows(validation_clusters, n_clusters, {});
  const std::vector<std::size_t> chunks = cut_chunks(groups, n_clusters);
  ClusterWeights all;
  all.offsets.assign(n_clusters + 1, 0);
  all.objective.assign(n_clusters, std::numeric_limits<double>::quiet_NaN());
  std::vector<ClusterWeights> parts(chunks.size() - 1);  // without offsets
  // Workers borrow a local problem, so that its arrays need not grow again for every chunk.
  std::mutex mutex;
  std::vector<std::unique_ptr<LocalProblem>> idle;
  parallel_chunks(parts.size(), 1, problem.n_threads, problem.progress, [&](std::size_t p, std::size_t, Poll& poll) {
    std::unique_ptr<LocalProblem> local;
    {
      const std::lock_guard lock(mutex);
      if (!idle.empty()) {
        local = std::move(idle.back());
        idle.pop_back();
      }
    }
    if (!local) local = std::make_unique<LocalProblem>(problem, merge_features);
    for (std::size_t c = chunks[p]; c < chunks[p + 1]; ++c) {
      const auto members = members_of(groups, c);
      if (members.empty()) continue;
      const Fit fit = local->train(trainer, members, members_of(judges, c), combine(problem.seed, first_cluster + c), poll);
      const auto& objective = fit.history.at("objective");
      if (!objective.empty()) all.objective[c] = objective.back();
      ClusterWeights& part = parts[p];
      part.features.insert(part.features.end(), local->ids().begin(), local->ids().end());
      if (problem.rows.options().constant) part.features.push_back(static_cast<FeatureId>(problem.rows.n_features()));
      part.weights.insert(part.weights.end(), fit.weights.begin(), fit.weights.end());
      all.offsets[c + 1] = static_cast<std::int64_t>(fit.weights.size() / problem.n_classes);
    }
    const std::lock_guard lock(mutex);
    idle.push_back(std::move(local));
  });
  for (std::size_t c = 0; c < n_clusters; ++c) all.offsets[c + 1] += all.offsets[c];
  join_columns<&ClusterWeights::features, &ClusterWeights::weights>(all, parts);
  return all;
}

std::vector<double> score_clusters(const Rows& rows, std::span<const std::int64_t> clusters, const ClusterView& model,
                                   std::size_t n_classes, unsigned n_threads, const Progress& progress) {
  std::vector<double> scores(rows.size() * n_classes, 0.0);
  parallel_chunks(rows.size(), kScoreChunk, n_threads, progress, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      if (clusters[i] < 0) continue;
      const std::size_t c = to_size(clusters[i]);
      auto at = model.features.begin() + model.offsets[c];
      const auto last = model.features.begin() + model.offsets[c + 1];
      rows[i].visit([&](FeatureId feature, double value) {
        at = std::lower_bound(at, last, feature);
        if (at == last || *at != feature) return;
        const float* w = model.weights.data() + to_size(at - model.features.begin()) * n_classes;
        for (std::size_t k = 0; k < n_classes; ++k) scores[i * n_classes + k] += value * static_cast<double>(w[k]);
      });
    }
  });
  return scores;
}

}  // namespace hyperbaton
