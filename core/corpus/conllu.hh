// Dependency trees and tags of CoNLL-U files, as columns parallel to the tokens.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "corpus/text.hh"

namespace hyperbaton {

struct DependenciesBuffer {
  std::vector<std::int32_t> heads;  // position of the head in the sentence; -1 for a root
  std::vector<std::uint16_t> relations, upos, xpos;
  std::vector<std::int64_t> offsets{0};
};

// Reads CoNLL-U: ten tab-separated columns, a blank line after each sentence, # comments. Ranges (1-2) and empty nodes
// (1.1) are not words and are skipped. Heads must form a forest.
//
// With a text, words are checked against its tokens, and its empty lines have no sentence in the file. Without one, the
// reader builds a text; a space inside a word becomes '_'.
class ConlluReader {
 public:
  explicit ConlluReader(std::optional<SpelledText> text) : text_(text) {
    if (text_) text_->check();
  }
  void feed(std::string_view piece) {
    splitter_.feed(piece, [this](std::string_view line) { add_line(line); });
  }
  // Throws LineError if the file has fewer sentences than the text.
  void finish();
  DependenciesBuffer take() { return std::move(columns_); }
  std::vector<WordId> take_tokens() { return std::move(tokens_); }
  const Vocabulary& words() const { return words_; }
  const Vocabulary& relations() const { return relations_; }
  const Vocabulary& upos() const { return upos_; }
  const Vocabulary& xpos() const { return xpos_; }

 private:
  void add_line(std::string_view line);
  void add_word(std::string_view line);
  void end_sentence();
  void skip_empty_sentences();
  std::size_t sentence() const { return columns_.offsets.size() - 1; }
  std::size_t n_words() const { return columns_.heads.size() - to_size(columns_.offsets.back()); }

  std::optional<SpelledText> text_;
  LineSplitter splitter_;
  std::size_t n_lines_ = 0;
  std::vector<std::size_t> word_lines_;  // of the words of the current sentence
  DependenciesBuffer columns_;
  std::vector<WordId> tokens_;
  Vocabulary words_, relations_, upos_, xpos_;
};

}  // namespace hyperbaton
