#include "corpus/class_file.hh"

#include <algorithm>
#include <charconv>
#include <limits>

#include "base/errors.hh"

namespace hyperbaton {

void ClassFileReader::add_line(std::string_view line) {
  ++n_lines_;
  const auto fail = [&](const std::string& what) { throw LineError(n_lines_, what); };
  if (find_sentence_fault(line, true) == LineFault::NotUtf8) fail(describe(LineFault::NotUtf8));
  if (line.ends_with('\r')) fail(describe(LineFault::CarriageReturn));
  const auto blank = line.find_first_of("\t ");
  const auto number = blank == std::string_view::npos ? std::string_view() : line.substr(blank + 1);
  if (blank == 0 || number.empty() || number.find_first_of("\t ") != std::string_view::npos)
    fail("expected a word, a tab and a class number, found '" + std::string(line) + "'");
  const auto word = line.substr(0, blank);

  constexpr unsigned kLargest = std::numeric_limits<ClassId>::max();
  unsigned value = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
  if (error != std::errc() || end != number.data() + number.size() || value == kBoundaryClass || value > kLargest)
    fail("expected a class number from 1 to " + std::to_string(kLargest) + " (0 is the sentence boundary), found '" +
         std::string(number) + "'");

  const auto id = vocabulary_.find(word);
  if (id == kUnknownWord) return;
  if (classes_[id] != kBoundaryClass) fail("the word '" + std::string(word) + "' already has a class");
  classes_[id] = static_cast<ClassId>(value);
}

std::string format_classes(const Vocabulary& vocabulary, std::span<const ClassId> classes) {
  if (classes.size() != vocabulary.size()) throw Error("there must be one class for each word");
  std::vector<WordId> order;
  for (WordId word = 0; word < classes.size(); ++word)
    if (classes[word] != kBoundaryClass) order.push_back(word);
  std::sort(order.begin(), order.end(), [&](WordId a, WordId b) { return vocabulary.word(a) < vocabulary.word(b); });
  std::string text;
  for (const auto word : order) {
    text.append(vocabulary.word(word));
    text.push_back('\t');
    text.append(std::to_string(classes[word]));
    text.push_back('\n');
  }
  return text;
}

std::vector<ClassId> carry_classes(const Vocabulary& from, std::span<const ClassId> classes, const Vocabulary& to) {
  if (classes.size() != from.size()) throw Error("there must be one class for each word");
  std::vector<ClassId> carried(to.size(), kBoundaryClass);
  for (WordId word = 0; word < to.size(); ++word)
    if (const auto id = from.find(to.word(word)); id != kUnknownWord) carried[word] = classes[id];
  return carried;
}

}  // namespace hyperbaton
