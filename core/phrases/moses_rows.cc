#include "phrases/moses_rows.hh"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>

#include "base/errors.hh"
#include "base/hash.hh"
#include "base/numbers.hh"
#include "base/size.hh"

namespace hyperbaton {

namespace {

// Words are short: copying this many bytes regardless of length is faster than finding the length.
constexpr std::size_t kWordBytes = 16;

// Upper bound of the space for the words of a phrase, each followed by a blank.
std::size_t words_room(std::span<const WordId> words, SpelledWords view) {
  std::size_t n = words.size() + kWordBytes;
  for (const auto word : words) n += slice(view.bytes, view.offsets, word).size();
  return n;
}

char* write_words(char* text, std::span<const WordId> words, SpelledWords view) {
  const auto* end = view.bytes.data() + view.bytes.size();
  bool first = true;
  for (const auto word : words) {
    if (!first) *text++ = ' ';
    first = false;
    const auto spelled = slice(view.bytes, view.offsets, word);
    const bool short_word = spelled.size() <= kWordBytes && to_size(end - spelled.data()) >= kWordBytes;
    if (short_word)
      std::memcpy(text, spelled.data(), kWordBytes);
    else
      std::memcpy(text, spelled.data(), spelled.size());
    text += spelled.size();
  }
  return text;
}

char* write_text(char* text, std::string_view piece) { return std::copy(piece.begin(), piece.end(), text); }

constexpr std::size_t kMaxNumber = std::max(kMaxSixDigits, kMaxFloatText) + 1;  // with a blank

template <class Number>
char* write_numbers(char* text, std::span<const Number> numbers, Digits digits) {
  bool first = true;
  for (const double number : numbers) {
    if (!first) *text++ = ' ';
    first = false;
    text = digits == Digits::Exact ? write_float(text, static_cast<float>(number)) : write_six_digits(text, number);
  }
  return text;
}

constexpr std::size_t kMaxLink = 8;  // 255-255 and a blank

char* write_links(char* text, std::span<const InnerLink> links) {
  const auto write_index = [&](unsigned index) {
    if (index < 10)
      *text++ = static_cast<char>('0' + index);
    else
      text = std::to_chars(text, text + 3, index).ptr;
  };
  bool first = true;
  for (const auto link : links) {
    if (!first) *text++ = ' ';
    first = false;
    write_index(link.source);
    *text++ = '-';
    write_index(link.target);
  }
  return text;
}

constexpr std::string_view kBar = " ||| ", kRowEnd = " ||| |||";

}  // namespace

void TextBuffer::grow(std::size_t n) {
  capacity_ = 2 * capacity_ + n;
  auto larger = std::make_unique_for_overwrite<char[]>(capacity_);
  if (size_ > 0) std::memcpy(larger.get(), text_.get(), size_);
  text_ = std::move(larger);
}

ScoreWriter::ScoreWriter(Digits digits, std::size_t n_scores)
    : digits_(digits),
      n_scores_(n_scores),
      room_(n_scores * kMaxNumber),
      scores_(kEntries * n_scores),
      texts_(kEntries * room_) {}

char* ScoreWriter::write(char* text, std::span<const double> scores) {
  std::uint64_t hash = 0;
  for (const double score : scores) hash = (hash ^ std::bit_cast<std::uint64_t>(score)) * 0x9e3779b97f4a7c15ULL;
  const auto entry = mix(hash) % kEntries;
  auto* known = scores_.data() + entry * n_scores_;
  auto* known_text = texts_.data() + entry * room_;
  if (lengths_[entry] == 0 || std::memcmp(known, scores.data(), scores.size_bytes()) != 0) {
    std::ranges::copy(scores, known);
    lengths_[entry] = to_size(write_numbers(known_text, scores, digits_) - known_text);
  }
  std::memcpy(text, known_text, lengths_[entry]);
  return text + lengths_[entry];
}

void RowWriter::set_source(std::span<const WordId> words) {
  source_.clear();
  source_.close(write_text(
      write_words(source_.room(words_room(words, source_words_) + side_end_.size()), words, source_words_), side_end_));
}

void RowWriter::add(const Row& row) {
  const auto links = row.links.value_or(std::span<const InnerLink>{});
  char* at = text_.room(source_.view().size() + words_room(row.target, target_words_) + side_end_.size() + scores_.room() +
                        links.size() * kMaxLink + 3 * kMaxNumber + 2 * kBar.size() + kRowEnd.size() + 1);
  at = write_text(at, source_.view());
  at = write_words(at, row.target, target_words_);
  at = write_text(at, side_end_);
  at = scores_.write(at, row.scores);
  if (row.links) {
    at = write_text(at, kBar);
    at = write_links(at, links);
  }
  if (!row.counts.empty()) {
    at = write_text(at, kBar);
    at = write_numbers(at, row.counts, Digits::Six);
    at = write_text(at, kRowEnd);
  }
  *at++ = '\n';
  text_.close(at);
}

void RowWriter::sort_last(std::size_t first, std::size_t second) {
  const auto rows = text_.view();
  if (rows.substr(second) < rows.substr(first, second - first))
    std::ranges::rotate(text_.bytes().subspan(first), text_.bytes().begin() + static_cast<std::ptrdiff_t>(second));
}

std::string_view PairRows::format(const PairNumbersView& numbers, std::size_t first, std::size_t last) {
  const auto base = pairs_.offsets[first], n_scores = writer_.n_scores();
  const auto& [scores, counts] = numbers;
  writer_.clear();
  for (std::size_t p = first; p < last; ++p) {
    writer_.set_source(pairs_.source.read(p, room_));
    const auto pairs = pairs_.pairs_of(p);
    for (auto k = pairs.first; k < pairs.last; ++k) {
      if (k < base || (k - base + 1) * n_scores > scores.size()) throw_damaged("offsets of phrase pairs do not increase");
      const auto at = k - base;
      writer_.add({.target = pairs_.target.read(pairs_.targets[k], room_),
                   .scores = scores.subspan(at * n_scores, n_scores),
                   .links = with_links_ ? std::optional(pairs_.links_of(k)) : std::nullopt,
                   .counts = counts.empty() ? counts : counts.subspan(3 * at, 3)});
    }
  }
  return writer_.text();
}

std::string_view SourceRows::format(std::span<const double> scores, std::size_t first, std::size_t last) {
  text_.clear();
  for (std::size_t p = first; p < last; ++p) {
    const auto phrase = sources_.read(p, room_);
    char* at = text_.room(words_room(phrase, words_) + scores_.room() + kBar.size() + 1);
    at = write_words(at, phrase, words_);
    at = write_text(at, kBar);
    at = scores_.write(at, scores.subspan((p - first) * scores_.n_scores(), scores_.n_scores()));
    *at++ = '\n';
    text_.close(at);
  }
  return text_.view();
}

}  // namespace hyperbaton
