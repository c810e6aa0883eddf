// Rows of Moses' phrase and reordering tables, written as text.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
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

// The numbers of consecutive phrase pairs.
struct PairNumbersView {
  std::span<const double> scores;
  std::span<const float> counts;  // (target, source, joint) of each pair, or none
};

// Rows of phrase pairs, `source ||| target ||| scores`, with the inner links and counts of phrase tables.
class PairRows {
 public:
  PairRows(const PairsView& pairs, SpelledWords source_words, SpelledWords target_words, std::size_t n_scores,
           Digits digits, bool with_links)
      : pairs_(pairs),
        source_words_(source_words),
        target_words_(target_words),
        with_links_(with_links),
        scores_(digits, n_scores) {}

  // The rows of source phrases [first, last), given the numbers of these pairs only. The text is valid until the next
  // call.
  std::string_view format(const PairNumbersView& numbers, std::size_t first, std::size_t last);

 private:
  PairsView pairs_;
  SpelledWords source_words_, target_words_;
  bool with_links_;
  ScoreWriter scores_;
  TextBuffer text_, source_;
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
