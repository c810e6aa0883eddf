// Rows of Moses' phrase and reordering tables, read from text.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "corpus/text.hh"
#include "phrases/score.hh"

namespace hyperbaton {

// Reads rows. Every row must have the same number of scores, none of them negative.
class MosesTableReader {
 public:
  // `with_target`: rows have a target phrase.
  explicit MosesTableReader(bool with_target) : with_target_(with_target) {}
  void feed(std::string_view piece) {
    splitter_.feed(piece, [this](std::string_view line) { add_line(line); });
  }
  void finish() {
    splitter_.finish([this](std::string_view line) { add_line(line); });
  }

  Vocabulary source_vocabulary, target_vocabulary;
  // One row each; phrases as flat words with offsets.
  std::vector<WordId> source_words, target_words;
  std::vector<std::int64_t> source_offsets{0}, target_offsets{0};
  std::vector<float> scores;
  std::size_t n_scores = 0;
  std::vector<InnerLink> links;
  std::vector<std::int64_t> link_offsets{0};
  std::vector<float> counts;  // 3 for each row, zeros if a row has none
  std::size_t n_rows() const { return source_offsets.size() - 1; }

 private:
  void add_line(std::string_view line);
  bool with_target_;
  LineSplitter splitter_;
};

}  // namespace hyperbaton
