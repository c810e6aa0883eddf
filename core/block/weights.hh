// The weights of a block model by question: one look finds what an answered question does to all targets.
#pragma once

#include "block/features.hh"

namespace hyperbaton {

// What a question adds to the score of a target with a jump. The target is told by its place among the pairs of the source
// phrase or, by questions about tags, by its tag.
struct BlockTerm {
  std::uint32_t target;
  std::uint8_t jump;
  double weight;
};

class QuestionWeights {
 public:
  // Throws Error unless the features fit the table.
  QuestionWeights(const BlockLookup& lookup, const BlockFeaturesView& features, std::span<const double> weights);
  QuestionWeights(const QuestionWeights&) = delete;
  QuestionWeights& operator=(const QuestionWeights&) = delete;

  // By target.
  std::span<const BlockTerm> operator[](const Question& question) const {
    const auto key = question.key();
    if (!index_.may_have(key)) return {};
    const auto found = index_.find(key);
    if (found < 0) return {};
    const auto q = static_cast<std::size_t>(found);
    return std::span(terms_).subspan(starts_[q], starts_[q + 1] - starts_[q]);
  }
  // The terms of one target.
  static std::span<const BlockTerm> of(std::span<const BlockTerm> terms, std::uint32_t target) {
    const auto found = std::ranges::equal_range(terms, target, {}, &BlockTerm::target);
    return {found.begin(), found.end()};
  }

 private:
  std::vector<std::uint64_t> keys_;  // of questions, sorted
  std::vector<std::size_t> starts_;
  std::vector<BlockTerm> terms_;
  KeyIndex index_;
};

}  // namespace hyperbaton
