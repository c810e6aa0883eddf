// The features of a block model by question: one look-up finds all targets and jumps that form a feature with an answered
// question.
#pragma once

#include "block/features.hh"

namespace hyperbaton {

// A feature of a question as a cell of the table of its targets and jumps: the target's row · 11 + the jump class. The
// row of a target is its index among the pairs of the source phrase; for questions about tags it is the row of its tag.
using Cell = std::uint32_t;
inline std::uint32_t tag_row(std::uint32_t target_tag) { return target_tag == kEmptyTag ? 0 : target_tag + 1; }

class QuestionIndex {
 public:
  // Throws Error unless the features match the table.
  QuestionIndex(const BlockLookup& lookup, const BlockFeaturesView& features);
  QuestionIndex(const QuestionIndex&) = delete;
  QuestionIndex& operator=(const QuestionIndex&) = delete;

  // A range of terms: features in the order of questions and cells.
  struct Terms {
    std::uint32_t first, last;
    bool empty() const { return first == last; }
  };
  static constexpr std::uint32_t kNoQuestion = kNone32;

  std::uint32_t number(const Question& question) const {
    const auto key = question.key();
    if (!index_.may_have(key)) return kNoQuestion;
    const auto found = index_.find(key);
    return found < 0 ? kNoQuestion : static_cast<std::uint32_t>(found);
  }
  Terms operator[](std::uint32_t number) const { return {starts_[number], starts_[number + 1]}; }
  Terms operator[](const Question& question) const {
    const auto q = number(question);
    return q == kNoQuestion ? Terms{0, 0} : (*this)[q];
  }
  // The terms of a question about tags with one row, found without a search.
  Terms of_tag(std::uint32_t number, std::uint32_t row) const {
    if (row >= n_tag_rows_) return {0, 0};
    const auto* starts = tag_starts_.data() + tag_tables_[number] * (n_tag_rows_ + 1) + row;
    return {starts[0], starts[1]};
  }
  // The terms with one row, for any terms.
  Terms of_row(Terms terms, std::uint32_t row) const {
    const auto at = [&](std::uint64_t cell) {
      const auto own = cells().subspan(terms.first, terms.last - terms.first);
      return terms.first + static_cast<std::uint32_t>(std::ranges::lower_bound(own, cell) - own.begin());
    };
    return {at(std::uint64_t{row} * kJumps), at((std::uint64_t{row} + 1) * kJumps)};
  }
  // Arrays indexed by term.
  std::span<const Cell> cells() const { return cells_; }
  std::span<const std::uint32_t> features() const { return features_; }

 private:
  std::vector<std::uint64_t> keys_;  // of questions, sorted
  std::vector<std::uint32_t> starts_;
  std::vector<Cell> cells_;
  std::vector<std::uint32_t> features_;
  KeyIndex index_;
  // For questions about tags, tables of where the terms of each row begin.
  std::size_t n_tag_rows_ = 0;
  std::vector<std::size_t> tag_tables_;  // by question: the index of the table
  std::vector<std::uint32_t> tag_starts_;
};

}  // namespace hyperbaton
