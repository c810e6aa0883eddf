#include "block/weights.hh"

#include <tuple>

namespace hyperbaton {

QuestionWeights::QuestionWeights(const BlockLookup& lookup, const BlockFeaturesView& features,
                                 std::span<const double> weights)
    : index_(std::span<const std::uint64_t>{}) {
  features.check();
  if (weights.size() != features.jumps.size()) throw Error("the weights do not fit the features");
  struct Owned {
    std::uint64_t question;
    std::uint32_t target, key;
  };
  std::vector<Owned> order;
  order.reserve(features.size());
  for (std::size_t k = 0; k < features.size(); ++k) {
    const auto question = features.question(k);
    auto target = features.targets[k];
    if (!about_tags(question.ask)) {
      const auto pair = lookup.pair(question.source, target);
      if (pair == kNone32) throw Error("the features do not fit the table: train the model again");
      target = pair - lookup.rows(question.source).first;
    }
    order.push_back({question.key(), target, static_cast<std::uint32_t>(k)});
  }
  std::ranges::sort(order, {}, [](const Owned& owned) { return std::tuple(owned.question, owned.target, owned.key); });
  terms_.reserve(weights.size());
  for (const auto& owned : order) {
    if (keys_.empty() || keys_.back() != owned.question) {
      keys_.push_back(owned.question);
      starts_.push_back(terms_.size());
    }
    for (auto f = features.starts[owned.key]; f < features.starts[owned.key + 1]; ++f)
      terms_.push_back({owned.target, features.jumps[static_cast<std::size_t>(f)], weights[static_cast<std::size_t>(f)]});
  }
  starts_.push_back(terms_.size());
  index_ = KeyIndex(keys_);
}

}  // namespace hyperbaton
