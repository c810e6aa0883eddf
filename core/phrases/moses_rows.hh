// Rows of Moses' phrase and reordering tables, written as text.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/size.hh"
#include "corpus/vocabulary.hh"
#include "phrases/score.hh"

namespace hyperbaton {

// How scores are written: like C++ streams (the format of Moses' programs), or so that they parse to the same floats.
enum class Digits : std::uint8_t { Six, Exact };

// A text buffer that grows at its end and is reused.
class TextBuffer {
 public:
  // Space for n more bytes; `close` sets the end of the written bytes.
  char* room(std::size_t n) {
    if (capacity_ - size_ < n) grow(n);
    return text_.get() + size_;
  }
  void close(const char* end) { size_ = to_size(end - text_.get()); }
  std::span<char> bytes() { return {text_.get(), size_}; }
  std::string_view view() const { return {text_.get(), size_}; }
  void clear() { size_ = 0; }

 private:
  void grow(std::size_t n);
  std::unique_ptr<char[]> text_;
  std::size_t size_ = 0, capacity_ = 0;
};

// Writes lists of scores. Rows of reordering tables mostly repeat an earlier row, whose text is then copied.
class ScoreWriter {
 public:
  ScoreWriter(Digits digits, std::size_t n_scores);
  std::size_t n_scores() const { return n_scores_; }
  std::size_t room() const { return room_; }  // bytes that `write` may overwrite
  char* write(char* text, std::span<const double> scores);

 private:
  static constexpr std::size_t kEntries = 256;
  Digits digits_;
  std::size_t n_scores_, room_;
  std::vector<double> scores_;  // of each entry
  std::vector<char> texts_;
  std::array<std::size_t, kEntries> lengths_{};  // 0: free
};

// Writes rows of phrase pairs, `source ||| target ||| scores`, with the inner links and counts of phrase tables.
class RowWriter {
 public:
  // Each side is followed by `side_end`.
  RowWriter(SpelledWords source_words, SpelledWords target_words, std::size_t n_scores, Digits digits,
            std::string_view side_end = " ||| ")
      : source_words_(source_words), target_words_(target_words), side_end_(side_end), scores_(digits, n_scores) {}
  std::size_t n_scores() const { return scores_.n_scores(); }

  void clear() { text_.clear(); }
  // The source side of the next rows.
  void set_source(std::span<const WordId> words);
  struct Row {
    std::span<const WordId> target;
    std::span<const double> scores;
    std::optional<std::span<const InnerLink>> links;
    std::span<const float> counts;  // target, source, joint, or none
  };
  void add(const Row& row);
  // Sort the last two rows, which begin there.
  void sort_last(std::size_t first, std::size_t second);
  std::string_view text() const { return text_.view(); }

 private:
  SpelledWords source_words_, target_words_;
  std::string_view side_end_;
  ScoreWriter scores_;
  TextBuffer text_, source_;
};

// The numbers of consecutive phrase pairs.
struct PairNumbersView {
  std::span<const double> scores;
  std::span<const float> counts;  // (target, source, joint) of each pair, or none
};

// The rows of phrase pairs; those of phrase tables have links and counts.
class PairRows {
 public:
  PairRows(const PairsView& pairs, SpelledWords source_words, SpelledWords target_words, std::size_t n_scores,
           Digits digits, bool with_links)
      : pairs_(pairs), with_links_(with_links), writer_(source_words, target_words, n_scores, digits) {}

  // The rows of source phrases [first, last), given the numbers of these pairs only. The text is valid until the next
  // call.
  std::string_view format(const PairNumbersView& numbers, std::size_t first, std::size_t last);

 private:
  PairsView pairs_;
  bool with_links_;
  RowWriter writer_;
  std::vector<WordId> room_;
};

// Rows `source ||| scores` of tables that depend only on the source phrase.
class SourceRows {
 public:
  SourceRows(const PhrasesView& sources, SpelledWords words, std::size_t n_scores, Digits digits)
      : sources_(sources), words_(words), scores_(digits, n_scores) {}

  // The rows of phrases [first, last), given their scores; the text as in PairRows.
  std::string_view format(std::span<const double> scores, std::size_t first, std::size_t last);

 private:
  PhrasesView sources_;
  SpelledWords words_;
  ScoreWriter scores_;
  TextBuffer text_;
  std::vector<WordId> room_;
};

}  // namespace hyperbaton
