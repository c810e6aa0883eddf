#include "learn/clusters.hh"

#include <algorithm>
#include <bit>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>

#include "base/hash.hh"

namespace hyperbaton {

namespace {

// Consecutive clusters are worked on together until they have this many rows.
constexpr std::int64_t kRowsTogether = 4096;
constexpr std::size_t kScoreChunk = 4096;

std::span<const std::uint32_t> members_of(const RowGroups& groups, std::size_t c) {
  const auto begin = static_cast<std::size_t>(groups.starts[c]), end = static_cast<std::size_t>(groups.starts[c + 1]);
  return std::span(groups.rows.begin(), groups.rows.size()).subspan(begin, end - begin);
}

// Numbers for the features of one cluster at a time. The table is as small as the cluster, so that it stays in the cache.
class FeatureNumbers {
 public:
  void clear(std::size_t n_entries) {
    places_.assign(std::bit_ceil(2 * n_entries + 2), {kFree, 0});
    ids_.clear();
  }
  // The number of a feature, in the order in which they come.
  FeatureId number(FeatureId id) {
    Place& place = find(id);
    if (place.id == kFree) {
      place = {id, static_cast<FeatureId>(ids_.size())};
      ids_.push_back(id);
    }
    return place.number;
  }
  // Number the features anew, in increasing order; `renumbered` tells the new number of each old one.
  void sort(std::vector<FeatureId>& renumbered) {
    order_.resize(ids_.size());
    for (std::size_t j = 0; j < ids_.size(); ++j) order_[j] = (static_cast<std::uint64_t>(ids_[j]) << 32) | j;
    std::sort(order_.begin(), order_.end());
    renumbered.resize(ids_.size());
    for (std::size_t j = 0; j < order_.size(); ++j) {
      ids_[j] = static_cast<FeatureId>(order_[j] >> 32);
      renumbered[static_cast<std::size_t>(order_[j] & 0xffffffff)] = static_cast<FeatureId>(j);
    }
  }
  // The number that `number` gave, -1 for a feature that it never saw.
  FeatureId known(FeatureId id) {
    const Place& place = find(id);
    return place.id == kFree ? -1 : place.number;
  }
  const std::vector<FeatureId>& ids() const { return ids_; }

 private:
  static constexpr FeatureId kFree = -1;
  struct Place {
    FeatureId id, number;
  };
  Place& find(FeatureId id) {
    std::size_t at = static_cast<std::size_t>(mix(static_cast<std::uint64_t>(id))) & (places_.size() - 1);
    while (places_[at].id != kFree && places_[at].id != id) at = (at + 1) & (places_.size() - 1);
    return places_[at];
  }

  std::vector<Place> places_;
  std::vector<FeatureId> ids_;
  std::vector<std::uint64_t> order_;
};

// A worker's copy of one cluster at a time, with its features renumbered from 0.
class LocalProblem {
 public:
  explicit LocalProblem(const Problem& problem) : problem_(problem) {}

  Fit train(const Trainer& trainer, std::span<const std::uint32_t> members, std::span<const std::uint32_t> judges,
            std::uint64_t seed, Poll& poll) {
    copy_training(members);
    copy_prior(members);
    const std::size_t n_features = numbers_.ids().size();
    const Rows rows = training_.rows(n_features, problem_.rows.options());
    std::optional<Rows> judging_rows;
    std::optional<Validation> validation;
    if (!judges.empty()) {
      copy_judges(judges);
      judging_rows.emplace(judging_.rows(n_features, problem_.rows.options()));
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
    return hyperbaton::train(trainer, local);
  }
  // The features of the cluster, increasing, without the constant.
  const std::vector<FeatureId>& ids() const { return numbers_.ids(); }

 private:
  // Some rows with their features renumbered.
  struct Copy {
    std::vector<std::int64_t> starts;
    std::vector<FeatureId> indices;
    std::vector<double> values;
    std::vector<Label> labels;

    // `number` gives the number of a feature, -1 for one to be dropped.
    template <class Number>
    void copy(const Rows& from, std::span<const Label> all_labels, std::span<const std::uint32_t> members,
              const Number& number) {
      starts.assign(1, 0), indices.clear(), values.clear(), labels.clear();
      bool has_values = false;
      for (const std::uint32_t i : members) has_values |= from[i].values != nullptr;
      for (const std::uint32_t i : members) {
        const Row row = from[i];
        for (std::size_t j = 0; j < row.features.size(); ++j) {
          const FeatureId local = number(row.features[j]);
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

  void copy_training(std::span<const std::uint32_t> members) {
    std::size_t n_entries = 0;
    for (const std::uint32_t i : members) n_entries += problem_.rows[i].features.size();
    numbers_.clear(n_entries);
    training_.copy(problem_.rows, problem_.labels, members, [&](FeatureId id) { return numbers_.number(id); });
    numbers_.sort(renumbered_);
    for (FeatureId& index : training_.indices) index = renumbered_[static_cast<std::size_t>(index)];
  }

  void copy_judges(std::span<const std::uint32_t> judges) {
    judging_.copy(problem_.validation->rows, problem_.validation->labels, judges, [&](FeatureId id) {
      const FeatureId known = numbers_.known(id);
      return known < 0 ? known : renumbered_[static_cast<std::size_t>(known)];
    });
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
  FeatureNumbers numbers_;
  std::vector<FeatureId> renumbered_;
  Copy training_, judging_;
  std::vector<double> prior_;
};

// What one chunk of consecutive clusters gave.
struct Part {
  std::vector<FeatureId> features;
  std::vector<float> weights;
};

std::vector<std::size_t> cut_chunks(const RowGroups& groups, std::size_t n_clusters) {
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
                            std::size_t n_clusters, std::size_t first_cluster,
                            std::span<const std::int64_t> validation_clusters) {
  const RowGroups groups = group_rows(clusters, n_clusters, {});
  const RowGroups judges = group_rows(validation_clusters, n_clusters, {});
  const std::vector<std::size_t> chunks = cut_chunks(groups, n_clusters);
  ClusterWeights all;
  all.offsets.assign(n_clusters + 1, 0);
  all.objective.assign(n_clusters, std::numeric_limits<double>::quiet_NaN());
  std::vector<Part> parts(chunks.size() - 1);
  // Workers borrow a local problem, whose arrays need not grow again for every chunk.
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
      const auto members = members_of(groups, c);
      if (members.empty()) continue;
      const Fit fit = local->train(trainer, members, members_of(judges, c), combine(problem.seed, first_cluster + c), poll);
      const auto& objective = fit.history.at("objective");
      if (!objective.empty()) all.objective[c] = objective.back();
      Part& part = parts[p];
      part.features.insert(part.features.end(), local->ids().begin(), local->ids().end());
      if (problem.rows.options().constant) part.features.push_back(static_cast<FeatureId>(problem.rows.n_features()));
      for (const double weight : fit.weights) part.weights.push_back(static_cast<float>(weight));
      all.offsets[c + 1] = static_cast<std::int64_t>(fit.weights.size() / problem.n_classes);
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
        const float* w = model.weights.data() + static_cast<std::size_t>(at - model.features.begin()) * n_classes;
        for (std::size_t k = 0; k < n_classes; ++k) scores[i * n_classes + k] += value * static_cast<double>(w[k]);
      });
    }
  });
  return scores;
}

}  // namespace hyperbaton
