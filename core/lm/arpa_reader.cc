#include <algorithm>
#include <charconv>

#include "base/counted.hh"
#include "base/errors.hh"
#include "base/numbers.hh"
#include "lm/arpa.hh"

namespace hyperbaton {

namespace {

constexpr std::string_view kBlanks = " \t";

// Cuts the next field off a line; empty at the end.
std::string_view cut_field(std::string_view& line) {
  const auto is_blank = [](char c) { return c == ' ' || c == '\t'; };
  std::size_t begin = 0;
  while (begin < line.size() && is_blank(line[begin])) ++begin;
  std::size_t end = begin;
  while (end < line.size() && !is_blank(line[end])) ++end;
  const auto field = line.substr(begin, end - begin);
  line.remove_prefix(end);
  return field;
}

std::string header(std::size_t order) { return std::string(1, '\\') + std::to_string(order) + "-grams:"; }
std::string ngrams(std::size_t order) { return std::to_string(order) + "-grams"; }

}  // namespace

ArpaReader::ArpaReader(unsigned n_threads) : n_threads_(n_threads) {
  for (const auto word : {"<unk>", "<s>", "</s>"}) vocabulary_.add(word);
}

void ArpaReader::add_line(std::string_view line) {
  ++n_lines_;
  if (line.ends_with('\r')) line.remove_suffix(1);
  const auto last = line.find_last_not_of(kBlanks);
  line = line.substr(0, last == std::string_view::npos ? 0 : last + 1);
  if (line.empty()) {
    // The n-grams of an order are on consecutive lines, so an n-gram's number gives its line.
    if (part_ == Part::Section && !sections_[order_ - 1].prob.empty()) check_complete();
    return;
  }
  switch (part_) {
    case Part::Start:
      if (line != "\\data\\") fail("expected \\data\\, the start of an ARPA file, found " + in_quotes(line));
      part_ = Part::Counts;
      break;
    case Part::Counts:
      line.starts_with('\\') ? start_section(line) : add_count(line);
      break;
    case Part::Section:
      line.starts_with('\\') ? start_section(line) : add_ngram(line);
      break;
    case Part::End:
      fail("expected nothing after \\end\\, found " + in_quotes(line));
  }
}

void ArpaReader::add_count(std::string_view line) {
  const auto word = cut_field(line);
  const auto equals = line.find('=');
  std::size_t order = 0, count = 0;
  const auto parse = [](std::string_view text, std::size_t& value) {
    text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size();
  };
  if (word != "ngram" || equals == std::string_view::npos || !parse(line.substr(0, equals), order) ||
      !parse(line.substr(equals + 1), count))
    fail("expected 'ngram ORDER=COUNT', found " + in_quotes(std::string(word) + std::string(line)));
  if (order != sections_.size() + 1)
    fail("expected the count of the " + ngrams(sections_.size() + 1) + ", found that of the " + ngrams(order));
  if (order > kMaxNgramOrder) fail("models of an order above " + std::to_string(kMaxNgramOrder) + " are not supported");
  sections_.push_back({.count = count, .first_line = 0, .words = {}, .prob = {}, .backoff = {}});
}

void ArpaReader::check_complete() const {
  if (order_ == 0) return;
  const auto& section = sections_[order_ - 1];
  if (section.prob.size() != section.count)
    fail("expected " + std::to_string(section.count) + " " + ngrams(order_) + ", as \\data\\ says, found " +
         std::to_string(section.prob.size()));
}

void ArpaReader::start_section(std::string_view line) {
  check_complete();
  if (sections_.empty()) fail("expected 'ngram 1=COUNT' after \\data\\, found " + in_quotes(line));
  const auto expected = order_ == sections_.size() ? "\\end\\" : header(order_ + 1);
  if (line != expected) fail("expected " + expected + ", found " + in_quotes(line));
  if (order_ == sections_.size()) {
    part_ = Part::End;
    return;
  }
  part_ = Part::Section;
  auto& section = sections_[order_++];
  // A wrong count must not allocate all memory.
  const auto expected_size = std::min<std::size_t>(section.count, 1 << 24);
  section.words.reserve(order_ * expected_size);
  section.prob.reserve(expected_size);
  if (order_ < sections_.size()) section.backoff.reserve(expected_size);
}

WordId ArpaReader::number(std::string_view word, std::size_t position) {
  // Files are usually sorted: most n-grams share most words with the previous one.
  if (word == vocabulary_.word(last_[position])) return last_[position];
  if (word == "<UNK>") return NgramModel::kUnk;
  if (order_ == 1) {
    if (const auto fault = find_fault(word, false); fault != LineFault::Fine) fail(describe(fault));
    return vocabulary_.add(word);
  }
  const auto id = vocabulary_.find(word);
  if (id == kUnknownWord) fail("the word " + in_quotes(word) + " is not among the 1-grams");
  return id;
}

void ArpaReader::add_ngram(std::string_view line) {
  auto& section = sections_[order_ - 1];
  if (section.prob.size() == section.count)
    fail("expected no more than " + std::to_string(section.count) + " " + ngrams(order_) + ", as \\data\\ says");
  if (section.prob.empty()) section.first_line = n_lines_;
  const auto field = cut_field(line);
  const auto prob = parse_float(field);
  if (!prob) fail("expected a log10 probability, found " + in_quotes(field));
  if (*prob > 0) fail("expected a log10 probability, at most 0, found " + in_quotes(field));
  for (std::size_t i = 0; i < order_; ++i) {
    const auto word = cut_field(line);
    if (word.empty()) fail("expected " + counted(order_, "word") + ", found " + std::to_string(i));
    last_[i] = number(word, i);
    section.words.push_back(last_[i]);
  }
  const auto last = cut_field(line);
  const auto backoff = last.empty() ? 0.0F : parse_float(last);
  if (!backoff) fail("expected a back-off weight after " + counted(order_, "word") + ", found " + in_quotes(last));
  if (!line.empty()) fail("expected the end of the line after the back-off weight, found " + in_quotes(cut_field(line)));
  section.prob.push_back(*prob);
  if (order_ < sections_.size()) {
    section.backoff.push_back(*backoff);
  } else if (*backoff != 0) {
    fail("expected no back-off weight in the highest order, found " + in_quotes(last));
  }
}

void ArpaReader::finish() {
  splitter_.finish([this](std::string_view line) { add_line(line); });
  if (part_ != Part::End) fail("the file ends here without \\end\\: is it cut off?");
  std::vector<NgramColumns> columns;
  for (const auto& section : sections_)
    columns.push_back({.words = section.words, .log10_prob = section.prob, .log10_backoff = section.backoff});
  try {
    tables_ = build_ngram_tables(columns, vocabulary_.size(), n_threads_, {});
  } catch (const DuplicateNgram& duplicate) {
    throw LineError(sections_[duplicate.order - 1].first_line + duplicate.index, "the n-gram is a duplicate");
  }
  const NgramTable words(tables_[0].view(), sections_.size() == 1);
  for (const auto marker : {NgramModel::kBos, NgramModel::kEos})
    if (words.key(marker) & ngram_key::kBlank)
      throw LineError(std::max<std::size_t>(sections_[0].first_line, 1),
                      "the 1-grams lack " + in_quotes(vocabulary_.word(marker)));
  sections_.clear();
}

}  // namespace hyperbaton
