#include "learn/clusters.hh"

#include <algorithm>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>

#include "base/hash.hh"

namespace hyperbaton {

namespace {

// Consecutive clusters are worked on together until they have this many rows.
constexpr std::size_t kRowsTogether = 4096;
constexpr std::size_t kScoreChunk = 4096;

// Rows grouped by cluster, in their old order inside each.
struct Groups {
  std::vector<std::size_t> starts;
  std::vector<std::uint32_t> rows;

  Groups(std::span<const std::int64_t> clusters, std::size_t n_clusters) : starts(n_clusters + 1, 0) {
    for (const std::int64_t c : clusters)
      if (c >= 0) ++starts[static_cast<std::size_t>(c)];
    rows.resize(exclusive_sum(starts));
    std::vector<std::size_t> next = starts;
    for (std::size_t i = 0; i < clusters.size(); ++i)
      if (clusters[i] >= 0) rows[next[static_cast<std::size_t>(clusters[i])]++] = static_cast<std::uint32_t>(i);
  }
  std::span<const std::uint32_t> operator[](std::size_t c) const {
    return std::span(rows).subspan(starts[c], starts[c + 1] - starts[c]);
  }
};

// A worker's copy of one cluster at a time, with its features renumbered from 0.
class LocalProblem {
 public:
  explicit LocalProblem(const Problem& problem) : problem_(problem), local_(problem.rows.n_features(), -1) {}

  Fit train(const Trainer& trainer, std::span<const std::uint32_t> members, std::span<const std::uint32_t> judges,
            std::size_t cluster, Poll& poll) {
    number_features(members);
    training_.copy(problem_.rows, problem_.labels, members, local_);
    copy_prior(members);
    const Rows rows = training_.rows(ids_.size(), problem_.rows.options());
    std::optional<Rows> judging_rows;
    std::optional<Validation> validation;
    if (!judges.empty()) {
      judging_.copy(problem_.validation->rows, problem_.validation->labels, judges, local_);
      judging_rows.emplace(judging_.rows(ids_.size(), problem_.rows.options()));
      validation.emplace(*judging_rows, judging_.labels);
    }
    const Problem local{rows,
                        training_.labels,
                        problem_.n_classes,
                        prior_,
                        combine(problem_.seed, cluster),
                        1,
                        [&](std::size_t, std::size_t) {
                          poll.check();
                          return true;
                        },
                        validation ? &*validation : nullptr};
    Fit fit = hyperbaton::train(trainer, local);
    for (const FeatureId id : ids_) local_[static_cast<std::size_t>(id)] = -1;
    if (problem_.rows.options().constant) ids_.push_back(static_cast<FeatureId>(problem_.rows.n_features()));
    return fit;
  }
  const std::vector<FeatureId>& ids() const { return ids_; }

 private:
  // Some rows with their features renumbered; features without a number are dropped.
  struct Copy {
    std::vector<std::int64_t> starts;
    std::vector<FeatureId> indices;
    std::vector<double> values;
    std::vector<Label> labels;

    void copy(const Rows& from, std::span<const Label> all_labels, std::span<const std::uint32_t> members,
              const std::vector<FeatureId>& number) {
      starts.assign(1, 0), indices.clear(), values.clear(), labels.clear();
      bool has_values = false;
      for (const std::uint32_t i : members) has_values |= from[i].values != nullptr;
      for (const std::uint32_t i : members) {
        const Row row = from[i];
        for (std::size_t j = 0; j < row.features.size(); ++j) {
          const FeatureId local = number[static_cast<std::size_t>(row.features[j])];
          if (local < 0) continue;
          indices.push_back(local);
          if (has_values) values.push_back(row.values == nullptr ? 1.0 : row.values[j]);
        }
        starts.push_back(static_cast<std::int64_t>(indices.size()));
        labels.push_back(all_labels[i]);
      }
    }
    Rows rows(std::size_t n_features, const RowOptions& options) const {
      Rows made(n_features, options);
      made.add_trusted({starts, indices, values.empty() ? nullptr : values.data()});
      return made;
    }
  };

  // The features of the cluster's rows, numbered in increasing order.
  void number_features(std::span<const std::uint32_t> members) {
    ids_.clear();
    for (const std::uint32_t i : members) {
      for (const FeatureId id : problem_.rows[i].features) {
        if (local_[static_cast<std::size_t>(id)] < 0) {
          local_[static_cast<std::size_t>(id)] = 0;
          ids_.push_back(id);
        }
      }
    }
    std::sort(ids_.begin(), ids_.end());
    for (std::size_t j = 0; j < ids_.size(); ++j) local_[static_cast<std::size_t>(ids_[j])] = static_cast<FeatureId>(j);
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
  std::vector<FeatureId> local_;  // by global feature; -1: not in this cluster
  std::vector<FeatureId> ids_;
  Copy training_, judging_;
  std::vector<double> prior_;
};

// What one chunk of consecutive clusters gave.
struct Part {
  std::vector<FeatureId> features;
  std::vector<double> weights;
};

std::vector<std::size_t> cut_chunks(const Groups& groups, std::size_t n_clusters) {
  std::vector<std::size_t> chunks{0};
  for (std::size_t c = 0; c < n_clusters; ++c)
    if (groups.starts[c + 1] - groups.starts[chunks.back()] >= kRowsTogether || c + 1 == n_clusters)
      chunks.push_back(c + 1);
  return chunks;
}

template <class T>
void append(std::vector<T>& all, std::vector<T>&& part) {
  all.insert(all.end(), part.begin(), part.end());
  std::vector<T>().swap(part);
}

}  // namespace

ClusterWeights fit_clusters(const Trainer& trainer, const Problem& problem, std::span<const std::int64_t> clusters,
                            std::size_t n_clusters, std::span<const std::int64_t> validation_clusters) {
  const Groups groups(clusters, n_clusters), judges(validation_clusters, n_clusters);
  const std::vector<std::size_t> chunks = cut_chunks(groups, n_clusters);
  ClusterWeights all;
  all.offsets.assign(n_clusters + 1, 0);
  all.objective.assign(n_clusters, std::numeric_limits<double>::quiet_NaN());
  std::vector<Part> parts(chunks.size() - 1);
  // Workers borrow a local problem, whose table of features is too large to make for every chunk.
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
    if (!local) local = std::make_unique<LocalProblem>(problem);
    for (std::size_t c = chunks[p]; c < chunks[p + 1]; ++c) {
      if (groups[c].empty()) continue;
      Fit fit = local->train(trainer, groups[c], judges[c], c, poll);
      all.offsets[c + 1] = static_cast<std::int64_t>(local->ids().size());
      const auto& objective = fit.history.at("objective");
      if (!objective.empty()) all.objective[c] = objective.back();
      parts[p].features.insert(parts[p].features.end(), local->ids().begin(), local->ids().end());
      parts[p].weights.insert(parts[p].weights.end(), fit.weights.begin(), fit.weights.end());
    }
    const std::lock_guard lock(mutex);
    idle.push_back(std::move(local));
  });
  for (std::size_t c = 0; c < n_clusters; ++c) all.offsets[c + 1] += all.offsets[c];
  all.features.reserve(static_cast<std::size_t>(all.offsets.back()));
  all.weights.reserve(static_cast<std::size_t>(all.offsets.back()) * problem.n_classes);
  for (Part& part : parts) {
    append(all.features, std::move(part.features));
    append(all.weights, std::move(part.weights));
  }
  return all;
}

std::vector<double> score_clusters(const Rows& rows, std::span<const std::int64_t> clusters, const ClusterView& model,
                                   std::size_t n_classes, unsigned n_threads, const Progress& progress) {
  std::vector<double> scores(rows.size() * n_classes, 0.0);
  parallel_chunks(rows.size(), kScoreChunk, n_threads, progress, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      if (clusters[i] < 0) continue;
      const std::size_t c = static_cast<std::size_t>(clusters[i]);
      auto at = model.features.begin() + model.offsets[c];
      const auto last = model.features.begin() + model.offsets[c + 1];
      rows[i].visit([&](FeatureId feature, double value) {
        at = std::lower_bound(at, last, feature);
        if (at == last || *at != feature) return;
        const double* w = model.weights.data() + static_cast<std::size_t>(at - model.features.begin()) * n_classes;
        for (std::size_t k = 0; k < n_classes; ++k) scores[i * n_classes + k] += value * w[k];
      });
    }
  });
  return scores;
}

}  // namespace hyperbaton
