// Rows of Moses' phrase and reordering tables, as text.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "corpus/text.hh"
#include "phrases/score.hh"

namespace hyperbaton {

// The words of phrases, for printing.
struct WordsView {
  std::span<const std::uint8_t> bytes;
  std::span<const std::int64_t> offsets;
};

// How scores are written: like C++ streams do, which is what Moses' programs print, or so that they read back as the same
// floats.
enum class Digits : std::uint8_t { Six, Exact };

// What is written behind the scores of a phrase-table row. Counts are (target, source, joint).
struct RowExtras {
  bool links;
  std::span<const float> counts;  // 3 for each pair, or none
};

// Rows of the pairs of source phrases [first, last): `source ||| target ||| scores`, and the extras. `scores` holds
// n_scores for each of those pairs only.
std::string format_pairs(const PairsView& pairs, WordsView source_words, WordsView target_words,
                         std::span<const double> scores, std::size_t n_scores, Digits digits, const RowExtras& extras,
                         std::size_t first, std::size_t last);

// Rows `source ||| scores` of tables that are conditioned on the source phrase alone.
std::string format_sources(const PhrasesView& sources, WordsView words, std::span<const double> scores,
                           std::size_t n_scores, Digits digits, std::size_t first, std::size_t last);

// Reads such rows. Every row must have the same number of scores, none of them below 0.
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
  std::vector<float> counts;  // 3 for each row, zeros where a row has none
  std::size_t n_rows() const { return source_offsets.size() - 1; }

 private:
  void add_line(std::string_view line);
  bool with_target_;
  LineSplitter splitter_;
};

}  // namespace hyperbaton
