// Tokenized text as integers: one sentence per line, tokens separated by spaces.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/slices.hh"
#include "corpus/vocabulary.hh"

namespace hyperbaton {

// Faults of a line; Fine is zero. Their messages are in text.cc.
enum class LineFault : std::uint8_t { Fine, NotUtf8, ByteOrderMark, CarriageReturn, Control, Separator, TooLong };

inline constexpr std::size_t kMaxSentenceLength = 60000;  // positions are 16-bit, with room for the edges

// The number of bytes of the first UTF-8 character of `text`, 0 if it is not one.
std::size_t utf8_length(std::string_view text);

// The fault of a line regardless of its tokens; tabs are allowed if `tabs` is set.
LineFault find_fault(std::string_view line, bool tabs);

// The fault of a line of tokens; if `lenient`, tokens may contain anything: then it is NotUtf8 or TooLong.
LineFault find_sentence_fault(std::string_view line, bool lenient);

// A token for a message: in quotes, shortened, always valid UTF-8 without control characters.
std::string in_quotes(std::string_view token);

// Call on_token for each run of characters between spaces.
template <class OnToken>
void for_each_token(std::string_view line, const OnToken& on_token) {
  while (true) {
    const auto begin = line.find_first_not_of(' ');
    if (begin == std::string_view::npos) return;
    line.remove_prefix(begin);
    const auto end = std::min(line.find(' '), line.size());
    on_token(line.substr(0, end));
    line.remove_prefix(end);
  }
}

// A view of the word numbers of a text: sentence s is tokens[offsets[s] .. offsets[s+1]).
struct TokensView {
  std::span<const WordId> tokens;
  std::span<const std::int64_t> offsets;
  std::size_t n_sentences() const { return offsets.size() - 1; }
  std::span<const WordId> operator[](std::size_t s) const { return valid_slice(tokens, offsets, s); }
};

// A view of a text with the spelling of its words: sentence s is tokens[offsets[s] .. offsets[s+1]), word i of the
// vocabulary is bytes[word_offsets[i] .. word_offsets[i+1]).
struct SpelledText {
  std::span<const WordId> tokens;
  std::span<const std::int64_t> offsets;
  std::span<const std::uint8_t> bytes;
  std::span<const std::int64_t> word_offsets;

  // Throws Error unless all four match.
  void check() const;
  std::size_t n_sentences() const { return offsets.size() - 1; }
  std::size_t length(std::size_t s) const { return to_size(offsets[s + 1] - offsets[s]); }
  std::string_view word(WordId id) const {
    return {reinterpret_cast<const char*>(bytes.data()) + word_offsets[id],
            to_size(word_offsets[id + 1] - word_offsets[id])};
  }
  std::string_view word(std::size_t s, std::size_t i) const { return word(tokens[to_size(offsets[s]) + i]); }
};

// Throws Error unless every sentence number is in the range of a text of n sentences.
void check_sentences(std::span<const std::int64_t> sentences, std::size_t n);

// Splits a stream of bytes into lines. feed() accepts pieces of any size; the last line needs no newline.
class LineSplitter {
 public:
  template <class OnLine>
  void feed(std::string_view piece, const OnLine& on_line) {
    std::size_t newline;
    while ((newline = piece.find('\n')) != std::string_view::npos) {
      if (carry_.empty()) {
        on_line(piece.substr(0, newline));
      } else {
        carry_.append(piece.substr(0, newline));
        const std::string line = std::move(carry_);
        carry_.clear();
        on_line(std::string_view(line));
      }
      piece.remove_prefix(newline + 1);
    }
    carry_.append(piece);
  }
  template <class OnLine>
  void finish(const OnLine& on_line) {
    if (carry_.empty()) return;
    const std::string line = std::move(carry_);
    carry_.clear();
    on_line(std::string_view(line));
  }

 private:
  std::string carry_;
};

// Builds the integer form of a text in one pass.
//
// A faulty line is a LineError unless `repair` is set: then a byte order mark is skipped, carriage returns and tabs count
// as spaces, and a line with any other fault becomes empty and is listed in faults().
class TextBuilder {
 public:
  TextBuilder(Vocabulary vocabulary, bool repair) : vocabulary_(std::move(vocabulary)), repair_(repair) {}
  void feed(std::string_view piece) {
    splitter_.feed(piece, [this](std::string_view line) { add_line(line); });
  }
  void finish() {
    splitter_.finish([this](std::string_view line) { add_line(line); });
  }

  // The text read since the last call; its offsets start from 0.
  struct Part {
    std::vector<WordId> tokens;
    std::vector<std::int64_t> offsets;
  };
  Part take() {
    n_taken_ += offsets_.size() - 1;
    return {std::exchange(tokens_, {}), std::exchange(offsets_, {0})};
  }
  const Vocabulary& vocabulary() const { return vocabulary_; }
  std::size_t n_lines() const { return n_taken_ + offsets_.size() - 1; }
  // (0-based line, fault) of each line emptied by repair.
  const std::vector<std::pair<std::int64_t, LineFault>>& faults() const { return faults_; }

 private:
  void add_line(std::string_view line);
  LineFault add_tokens(std::string_view line);

  Vocabulary vocabulary_;
  bool repair_;
  LineSplitter splitter_;
  std::vector<WordId> tokens_;
  std::vector<std::int64_t> offsets_{0};
  std::size_t n_taken_ = 0;  // lines
  std::vector<std::pair<std::int64_t, LineFault>> faults_;
};

// The message for a fault.
std::string describe(LineFault fault);

// The selected sentences as text, tokens joined by one space, each line ended by a newline.
std::string format_text(const SpelledText& text, std::span<const std::int64_t> sentences);

}  // namespace hyperbaton
