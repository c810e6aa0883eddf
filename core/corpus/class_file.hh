// Word classes as text, in the format of mkcls: word, tab, class number; one word per line, sorted by bytes.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "corpus/classes.hh"
#include "corpus/text.hh"

namespace hyperbaton {

// Reads the classes of a vocabulary's words; other words in the file are ignored. Errors are LineErrors.
class ClassFileReader {
 public:
  explicit ClassFileReader(Vocabulary vocabulary)
      : vocabulary_(std::move(vocabulary)), classes_(vocabulary_.size(), kBoundaryClass) {}
  void feed(std::string_view piece) {
    splitter_.feed(piece, [this](std::string_view line) { add_line(line); });
  }
  void finish() {
    splitter_.finish([this](std::string_view line) { add_line(line); });
  }
  // By word number; kBoundaryClass for words that are not in the file.
  std::vector<ClassId> take() { return std::move(classes_); }

 private:
  void add_line(std::string_view line);

  Vocabulary vocabulary_;
  LineSplitter splitter_;
  std::vector<ClassId> classes_;
  std::size_t n_lines_ = 0;
};

// Words of kBoundaryClass are left out.
std::string format_classes(const Vocabulary& vocabulary, std::span<const ClassId> classes);

// Classes by the word numbers of `to`; kBoundaryClass for words that are not in `from`.
std::vector<ClassId> carry_classes(const Vocabulary& from, std::span<const ClassId> classes, const Vocabulary& to);

}  // namespace hyperbaton
