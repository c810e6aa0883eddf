#include "block/question_index.hh"

#include <tuple>

namespace hyperbaton {

QuestionIndex::QuestionIndex(const BlockLookup& lookup, const BlockFeaturesView& features)
    : index_(std::span<const std::uint64_t>{}) {
  features.check();
  check_number(features.jumps.size());
  struct Owned {
    std::uint64_t question;
    std::uint32_t row, key;
    bool tags;
  };
  std::vector<Owned> order;
  order.reserve(features.size());
  for (std::size_t k = 0; k < features.size(); ++k) {
    const auto question = features.question(k);
    const auto target = features.targets[k];
    const bool tags = about_tags(question.ask);
    const auto pair = tags ? 0 : lookup.pair(question.source, target);
    if (pair == kNone32) throw Error("the features do not match the table: train the model again");
    const auto row = tags ? tag_row(target) : pair - lookup.rows(question.source).first;
    order.push_back({.question = question.key(), .row = row, .key = static_cast<std::uint32_t>(k), .tags = tags});
    if (tags) n_tag_rows_ = std::max<std::size_t>(n_tag_rows_, row + 1);
  }
  std::ranges::sort(order, {}, [](const Owned& owned) { return std::tuple(owned.question, owned.row, owned.key); });
  std::size_t n_tables = 0;
  cells_.reserve(features.jumps.size());
  features_.reserve(features.jumps.size());
  for (const auto& owned : order) {
    if (keys_.empty() || keys_.back() != owned.question) {
      keys_.push_back(owned.question);
      starts_.push_back(static_cast<std::uint32_t>(cells_.size()));
      tag_tables_.push_back(owned.tags ? n_tables++ : 0);
    }
    for (auto f = features.starts[owned.key]; f < features.starts[owned.key + 1]; ++f) {
      cells_.push_back(owned.row * static_cast<Cell>(kJumps) + features.jumps[to_size(f)]);
      features_.push_back(static_cast<std::uint32_t>(f));
    }
  }
  starts_.push_back(static_cast<std::uint32_t>(cells_.size()));
  index_ = KeyIndex(keys_);

  tag_starts_.resize(n_tables * (n_tag_rows_ + 1));
  for (std::size_t i = 0; i < order.size();) {
    const auto question = order[i].question;
    if (order[i].tags) {
      const auto q = static_cast<std::uint32_t>(index_.find(question));
      const auto terms = (*this)[q];
      auto at = terms.first;
      for (std::size_t row = 0; row <= n_tag_rows_; ++row) {
        while (at < terms.last && cells_[at] < row * kJumps) ++at;
        tag_starts_[tag_tables_[q] * (n_tag_rows_ + 1) + row] = at;
      }
    }
    while (i < order.size() && order[i].question == question) ++i;
  }
}

}  // namespace hyperbaton
