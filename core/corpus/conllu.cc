#include "corpus/conllu.hh"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>

#include "base/counted.hh"
#include "base/errors.hh"
#include "corpus/annotation.hh"

namespace hyperbaton {

namespace {

enum Column : std::size_t { Id, Form, Lemma, Upos, Xpos, Feats, Head, Relation, Deps, Misc, kColumns };

std::array<std::string_view, kColumns> split_columns(std::string_view line, std::size_t n_line) {
  std::array<std::string_view, kColumns> columns;
  const auto n_tabs = to_size(std::count(line.begin(), line.end(), '\t'));
  if (n_tabs + 1 != kColumns)
    throw LineError(n_line, "expected 10 columns between tabs, found " + std::to_string(n_tabs + 1));
  for (auto& column : columns) {
    column = line.substr(0, line.find('\t'));
    line.remove_prefix(std::min(column.size() + 1, line.size()));
    if (column.empty()) throw LineError(n_line, "an empty column; CoNLL-U writes _");
  }
  return columns;
}

// Parse a whole column as a number; -1 if it is not one.
long parse_number(std::string_view column) {
  long value = -1;
  const auto [end, error] = std::from_chars(column.data(), column.data() + column.size(), value);
  return error == std::errc() && end == column.data() + column.size() && value >= 0 ? value : -1;
}

// 3-4 or 8.1
bool is_range_or_empty_node(std::string_view id) {
  const auto mark = id.find_first_of("-.");
  return mark != std::string_view::npos && parse_number(id.substr(0, mark)) >= 0 && parse_number(id.substr(mark + 1)) >= 0;
}

}  // namespace

void ConlluReader::add_line(std::string_view line) {
  ++n_lines_;
  if (const auto fault = find_fault(line, true); fault != LineFault::Fine) throw LineError(n_lines_, describe(fault));
  if (line.empty()) {
    if (n_words() > 0) end_sentence();
  } else if (!line.starts_with('#')) {
    add_word(line);
  }
}

void ConlluReader::add_word(std::string_view line) {
  const auto columns = split_columns(line, n_lines_);
  if (is_range_or_empty_node(columns[Id])) return;
  const auto position = n_words();
  if (parse_number(columns[Id]) != static_cast<long>(position + 1))
    throw LineError(n_lines_, "expected word " + std::to_string(position + 1) + ", found " + in_quotes(columns[Id]));
  if (position >= kMaxSentenceLength) throw LineError(n_lines_, describe(LineFault::TooLong));

  std::string word(columns[Form]);
  std::replace(word.begin(), word.end(), ' ', '_');
  if (text_) {
    if (position == 0) {
      skip_empty_sentences();
      if (sentence() >= text_->n_sentences())
        throw LineError(n_lines_, "more sentences than the " + std::to_string(text_->n_sentences()) + " of the text");
    }
    check_word(word, *text_, sentence(), position, n_lines_);
  } else {
    if (word.find("|||") != std::string::npos) throw LineError(n_lines_, describe(LineFault::Separator));
    tokens_.push_back(words_.add(word));
  }

  const long head = parse_number(columns[Head]);
  if (head < 0 || head > static_cast<long>(kMaxSentenceLength))
    throw LineError(n_lines_, "expected the number of a word as head, 0 for the root, found " + in_quotes(columns[Head]));
  columns_.heads.push_back(static_cast<std::int32_t>(head) - 1);
  columns_.relations.push_back(add_label(relations_, columns[Relation], n_lines_));
  columns_.upos.push_back(add_label(upos_, columns[Upos], n_lines_));
  columns_.xpos.push_back(add_label(xpos_, columns[Xpos], n_lines_));
  word_lines_.push_back(n_lines_);
}

void ConlluReader::end_sentence() {
  const auto n = static_cast<std::int32_t>(n_words());
  if (text_) check_length(n_words(), *text_, sentence(), n_lines_);
  const auto* heads = columns_.heads.data() + columns_.offsets.back();
  // Walk up from each word to a word already known to reach a root; returning to the current walk means a cycle.
  std::vector<std::int32_t> walk(to_size(n), -1);
  for (std::int32_t i = 0; i < n; ++i) {
    if (heads[i] >= n)
      throw LineError(word_lines_[to_size(i)],
                      "head " + std::to_string(heads[i] + 1) + " in a sentence of " + counted(n, "word"));
  }
  for (std::int32_t i = 0; i < n; ++i) {
    auto at = i;
    while (at >= 0 && walk[to_size(at)] < 0) {
      walk[to_size(at)] = i;
      at = heads[at];
    }
    if (at >= 0 && walk[to_size(at)] == i)
      throw LineError(word_lines_[to_size(at)], "the heads form a circle: the word is its own ancestor");
  }
  word_lines_.clear();
  columns_.offsets.push_back(static_cast<std::int64_t>(columns_.heads.size()));
}

void ConlluReader::skip_empty_sentences() {
  while (sentence() < text_->n_sentences() && text_->length(sentence()) == 0)
    columns_.offsets.push_back(columns_.offsets.back());
}

void ConlluReader::finish() {
  splitter_.finish([this](std::string_view line) { add_line(line); });
  if (n_words() > 0) end_sentence();
  if (!text_) return;
  skip_empty_sentences();
  if (sentence() != text_->n_sentences())
    throw LineError(n_lines_ + 1, "the file ends after " + counted(sentence(), "sentence") + "; the text has " +
                                      std::to_string(text_->n_sentences()));
}

}  // namespace hyperbaton
