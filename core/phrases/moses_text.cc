#include "phrases/moses_text.hh"

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <string>

#include "base/counted.hh"
#include "base/errors.hh"
#include "phrases/extract.hh"

namespace hyperbaton {

namespace {

// Split at '|||' into trimmed fields.
void split_fields(std::string_view line, std::vector<std::string_view>& fields) {
  fields.clear();
  while (true) {
    const auto bar = line.find("|||");
    auto field = line.substr(0, bar);
    while (!field.empty() && field.front() == ' ') field.remove_prefix(1);
    while (!field.empty() && field.back() == ' ') field.remove_suffix(1);
    fields.push_back(field);
    if (bar == std::string_view::npos) return;
    line.remove_prefix(bar + 3);
  }
}

// Parse the whole token as a finite number; throws LineError.
float parse_float(std::string_view token, std::size_t line) {
  const std::string copy(token);
  char* end = nullptr;
  const float value = std::strtof(copy.c_str(), &end);
  if (copy.empty() || end != copy.c_str() + copy.size() || !std::isfinite(value))
    throw LineError(line, "expected a number, found '" + copy + "'");
  return value;
}

}  // namespace

void MosesTableReader::add_line(std::string_view line) {
  const std::size_t number = n_rows() + 1;
  std::vector<std::string_view> fields;
  split_fields(line, fields);
  const std::size_t n_phrases = with_target_ ? 2 : 1;
  if (fields.size() < n_phrases + 1)
    throw LineError(number, "expected '" + std::string(with_target_ ? "source ||| target" : "source") +
                                " ||| scores', found " + counted(fields.size(), "field"));
  const auto add_phrase = [&](std::string_view field, const char* side, Vocabulary& vocabulary, std::vector<WordId>& words,
                              std::vector<std::int64_t>& offsets) {
    for (std::size_t at = 0; at < field.size();) {
      const auto length = utf8_length(field.substr(at));
      if (length == 0) throw LineError(number, describe(LineFault::NotUtf8));
      if (static_cast<unsigned char>(field[at]) < 0x20) throw LineError(number, describe(LineFault::Control));
      at += length;
    }
    for_each_token(field, [&](std::string_view token) { words.push_back(vocabulary.add(token)); });
    const auto length = static_cast<std::int64_t>(words.size()) - offsets.back();
    if (length == 0) throw LineError(number, std::string("the ") + side + " phrase is empty");
    if (length > kMaxPhraseLength)
      throw LineError(number,
                      std::string("the ") + side + " phrase has more than " + std::to_string(kMaxPhraseLength) + " words");
    offsets.push_back(static_cast<std::int64_t>(words.size()));
    return length;
  };
  const auto source_length = add_phrase(fields[0], "source", source_vocabulary, source_words, source_offsets);
  const auto target_length =
      with_target_ ? add_phrase(fields[1], "target", target_vocabulary, target_words, target_offsets) : 0;

  std::size_t n_here = 0;
  for_each_token(fields[n_phrases], [&](std::string_view token) {
    scores.push_back(parse_float(token, number));
    if (scores.back() < 0) throw LineError(number, "expected a score of at least 0, found '" + std::string(token) + "'");
    ++n_here;
  });
  if (number == 1) n_scores = n_here;
  if (n_here == 0 || n_here != n_scores)
    throw LineError(number, "expected " + counted(n_scores ? n_scores : 1, "score") + ", found " + std::to_string(n_here));

  if (fields.size() > n_phrases + 1) {
    for_each_token(fields[n_phrases + 1], [&](std::string_view token) {
      int i = -1, j = -1;
      const char* end = token.data() + token.size();
      const auto first = std::from_chars(token.data(), end, i);
      const bool dash = first.ec == std::errc() && first.ptr < end && *first.ptr == '-';
      const auto second = dash ? std::from_chars(first.ptr + 1, end, j) : first;
      if (!dash || second.ec != std::errc() || second.ptr != end || i < 0 || j < 0)
        throw LineError(number, "expected links like 0-0, found '" + std::string(token) + "'");
      if (i >= source_length || j >= target_length)
        throw LineError(number, "link '" + std::string(token) + "' is out of range");
      links.push_back({static_cast<std::uint8_t>(i), static_cast<std::uint8_t>(j)});
    });
  }
  link_offsets.push_back(static_cast<std::int64_t>(links.size()));

  std::size_t n_counts = 0;
  if (fields.size() > n_phrases + 2)
    for_each_token(fields[n_phrases + 2], [&](std::string_view token) {
      const float value = parse_float(token, number);
      if (n_counts < 3) counts.push_back(value);
      ++n_counts;
    });
  for (; n_counts < 3; ++n_counts) counts.push_back(0);
}

}  // namespace hyperbaton
