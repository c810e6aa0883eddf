// Language models as text in the ARPA format: log10 probability, words, log10 back-off weight, one n-gram per line.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "corpus/text.hh"
#include "corpus/vocabulary.hh"
#include "lm/build.hh"

namespace hyperbaton {

// Reads a whole model; faults are LineErrors. Words are numbered as the unigrams come, behind <unk>, <s> and </s>.
class ArpaReader {
 public:
  ArpaReader();
  void feed(std::string_view piece) {
    splitter_.feed(piece, [this](std::string_view line) { add_line(line); });
  }
  // Builds the tables.
  void finish();

  const Vocabulary& vocabulary() const { return vocabulary_; }
  std::vector<NgramArrays> take() { return std::move(tables_); }

 private:
  enum class Part : std::uint8_t { Start, Counts, Section, End };
  struct Section {
    std::size_t count;           // as \data\ has it
    std::size_t first_line = 0;  // of the n-grams
    std::vector<WordId> words;
    std::vector<float> prob, backoff;
  };

  void add_line(std::string_view line);
  void add_count(std::string_view line);
  void start_section(std::string_view line);
  void add_ngram(std::string_view line);
  WordId number(std::string_view word);
  void check_complete() const;
  [[noreturn]] void fail(const std::string& what) const { throw LineError(n_lines_ > 0 ? n_lines_ : 1, what); }

  LineSplitter splitter_;
  std::size_t n_lines_ = 0;
  Part part_ = Part::Start;
  std::vector<Section> sections_;
  std::size_t order_ = 0;  // of the section being read
  Vocabulary vocabulary_;
  std::vector<NgramArrays> tables_;
};

// Writes a model in pieces: the n-grams of each order sorted by word number.
class ArpaWriter {
 public:
  ArpaWriter(const NgramModel& model, std::span<const std::uint8_t> bytes, std::span<const std::int64_t> offsets);
  // The next piece of text; empty at the end.
  std::string next();

 private:
  void start_order();
  void append_ngram(std::string& text, std::span<const WordId> words, std::uint32_t slot) const;

  NgramModel model_;
  std::span<const std::uint8_t> bytes_;
  std::span<const std::int64_t> offsets_;
  std::vector<std::vector<std::uint32_t>> slots_;  // [n - 1]: of the n-grams of order n
  std::vector<WordId> words_;                      // of the order being written, as slots_ has them
  std::uint32_t order_ = 0;
  std::size_t done_ = 0;
};

}  // namespace hyperbaton
