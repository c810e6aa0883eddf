// Language models as text in the ARPA format: log10 probability, words, log10 back-off weight, one n-gram per line.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "corpus/text.hh"
#include "corpus/vocabulary.hh"
#include "lm/build.hh"
#include "lm/ngram_tree.hh"

namespace hyperbaton {

// Reads a whole model; errors are LineErrors. Words are numbered in the order of the unigrams, after <unk>, <s> and </s>.
class ArpaReader {
 public:
  explicit ArpaReader(unsigned n_threads);
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
    std::size_t count;           // as declared in the \data\ section
    std::size_t first_line = 0;  // of the n-grams
    std::vector<WordId> words;
    std::vector<float> prob, backoff;
  };

  void add_line(std::string_view line);
  void add_count(std::string_view line);
  void start_section(std::string_view line);
  void add_ngram(std::string_view line);
  WordId number(std::string_view word, std::size_t position);
  void check_complete() const;
  [[noreturn]] void fail(const std::string& what) const { throw LineError(n_lines_ > 0 ? n_lines_ : 1, what); }

  unsigned n_threads_;
  LineSplitter splitter_;
  std::size_t n_lines_ = 0;
  Part part_ = Part::Start;
  std::vector<Section> sections_;
  std::array<WordId, kMaxNgramOrder> last_{};  // the words of the last n-gram
  std::size_t order_ = 0;                      // of the section being read
  Vocabulary vocabulary_;
  std::vector<NgramArrays> tables_;
};

// The source of the n-grams of an ARPA file.
class ArpaSource {
 public:
  virtual ~ArpaSource() = default;
  virtual std::uint32_t order() const = 0;
  virtual std::size_t n_words() const = 0;
  virtual std::size_t count(std::uint32_t order) const = 0;
  // Orders are requested from 1 on.
  virtual void start(std::uint32_t order) = 0;
  // Rows of the order, sorted by word number, starting from row `begin`: words oldest first, log10 p, log10 back-off
  // weight.
  virtual void fill(std::size_t begin, std::span<std::uint32_t> rows) const = 0;
};

// Writes a model in pieces: the n-grams of each order sorted by word number. The text does not depend on the size of the
// pieces.
class ArpaWriter {
 public:
  // The n-grams and the vocabulary must outlive the writer.
  ArpaWriter(const NgramModel& model, SpelledWords words, unsigned n_threads);
  ArpaWriter(const NgramTree& tree, SpelledWords words, unsigned n_threads);
  // The next piece of text; empty at the end.
  std::string next();

 private:
  ArpaWriter(std::unique_ptr<ArpaSource> source, SpelledWords words, unsigned n_threads);
  std::string ngram_lines(std::size_t begin, std::size_t end) const;

  std::unique_ptr<ArpaSource> source_;
  SpelledWords words_;
  unsigned n_threads_;
  std::uint32_t order_ = 0;
  std::size_t count_ = 0, done_ = 0;  // n-grams of this order
  std::vector<std::string> blocks_;   // written together
  std::size_t n_given_ = 0;           // of the blocks
};

}  // namespace hyperbaton
