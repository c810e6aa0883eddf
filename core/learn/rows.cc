#include "learn/rows.hh"

#include <string>

#include "base/errors.hh"
#include "base/size.hh"

namespace hyperbaton {

Rows::Rows(std::size_t n_features, const RowOptions& options) : n_features_(n_features), options_(options) {}

void Rows::add(const Shard& shard) {
  if (shard.starts.empty()) throw Error("row offsets need one value more than there are rows");
  const auto fail = [&](std::size_t i, const std::string& what) {
    throw Error("row " + std::to_string(size() + i) + ": " + what);
  };
  if (shard.starts[0] < 0) fail(0, "offset is negative");
  for (std::size_t i = 0; i < shard.size(); ++i) {
    const std::int64_t from = shard.starts[i], to = shard.starts[i + 1];
    if (to < from || to > static_cast<std::int64_t>(shard.indices.size()))
      fail(i, "offsets " + std::to_string(from) + " to " + std::to_string(to) + " do not fit " +
                  std::to_string(shard.indices.size()) + " entries");
    std::int64_t previous = -1;
    for (std::int64_t j = from; j < to; ++j) {
      const FeatureId feature = shard.indices[to_size(j)];
      if (feature < 0 || to_size(feature) >= n_features_)
        fail(i, "feature " + std::to_string(feature) + " is outside 0…" + std::to_string(n_features_) + " (exclusive)");
      if (feature <= previous)
        fail(i, "feature ids must increase, but " + std::to_string(feature) + " follows " + std::to_string(previous));
      previous = feature;
      if (shard.values != nullptr && !std::isfinite(shard.values[j]))
        fail(i, std::string("feature ") + std::to_string(feature) + " is " +
                    (std::isnan(shard.values[j]) ? "NaN" : "infinite (inf)") + "; values must be finite");
    }
  }
  add_trusted(shard);
}

void Rows::add_trusted(const Shard& shard) {
  n_entries_ += to_size(shard.starts.back() - shard.starts.front());
  shards_.push_back(shard);
  begins_.push_back(begins_.back() + shard.size());
}

}  // namespace hyperbaton
