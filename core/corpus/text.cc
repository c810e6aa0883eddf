#include "corpus/text.hh"

#include <algorithm>

#include "base/errors.hh"

namespace hyperbaton {

namespace {
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
}

std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const auto follows = [&](std::size_t i) { return i < text.size() && (byte(i) & 0xc0) == 0x80; };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first <= 0xdf) return follows(1) ? 2 : 0;
  if (first >= 0xe0 && first <= 0xef) {
    if (!follows(1) || !follows(2)) return 0;
    if (first == 0xe0 && byte(1) < 0xa0) return 0;   // overlong
    if (first == 0xed && byte(1) >= 0xa0) return 0;  // surrogate
    return 3;
  }
  if (first >= 0xf0 && first <= 0xf4) {
    if (!follows(1) || !follows(2) || !follows(3)) return 0;
    if (first == 0xf0 && byte(1) < 0x90) return 0;   // overlong
    if (first == 0xf4 && byte(1) >= 0x90) return 0;  // beyond U+10FFFF
    return 4;
  }
  return 0;
}

std::string describe(LineFault fault) {
  switch (fault) {
    case LineFault::NotUtf8:
      return "not valid UTF-8";
    case LineFault::ByteOrderMark:
      return "byte order mark (U+FEFF) at the start of the line";
    case LineFault::CarriageReturn:
      return "carriage return (Windows line ends?)";
    case LineFault::Control:
      return "control character (tab, NUL or the like) where only spaces may separate tokens";
    case LineFault::Separator:
      return "token contains '|||', the field separator of Moses files";
    case LineFault::TooLong:
      return "more than " + std::to_string(kMaxSentenceLength) + " tokens";
    case LineFault::Fine:
      break;
  }
  return "fine";
}

LineFault TextBuilder::add_tokens(std::string_view line) {
  if (line.starts_with(kByteOrderMark)) {
    if (!repair_) return LineFault::ByteOrderMark;
    line.remove_prefix(kByteOrderMark.size());
  }
  std::size_t start = 0, at = 0;
  const auto end_token = [&]() -> LineFault {
    if (at > start) {
      const auto token = line.substr(start, at - start);
      if (token.find("|||") != std::string_view::npos) return LineFault::Separator;
      tokens_.push_back(vocabulary_.add(token));
    }
    return LineFault::Fine;
  };
  while (at < line.size()) {
    const auto c = static_cast<unsigned char>(line[at]);
    const bool blank = c == ' ' || (repair_ && (c == '\r' || c == '\t'));
    if (blank) {
      if (const auto fault = end_token(); fault != LineFault::Fine) return fault;
      start = ++at;
    } else if (c >= 0x80) {
      const std::size_t length = utf8_length(line.substr(at));
      if (length == 0) return LineFault::NotUtf8;
      at += length;
    } else if (c < 0x20 || c == 0x7f) {
      return c == '\r' ? LineFault::CarriageReturn : LineFault::Control;
    } else {
      ++at;
    }
  }
  if (const auto fault = end_token(); fault != LineFault::Fine) return fault;
  const auto length = tokens_.size() - to_size(offsets_.back());
  return length > kMaxSentenceLength ? LineFault::TooLong : LineFault::Fine;
}

void TextBuilder::add_line(std::string_view line) {
  if (const auto fault = add_tokens(line); fault != LineFault::Fine) {
    if (!repair_) throw LineError(n_lines() + 1, describe(fault));
    faults_.emplace_back(static_cast<std::int64_t>(n_lines()), fault);
    tokens_.resize(to_size(offsets_.back()));
  }
  offsets_.push_back(static_cast<std::int64_t>(tokens_.size()));
}

LineFault find_fault(std::string_view line, bool tabs) {
  if (line.starts_with(kByteOrderMark)) return LineFault::ByteOrderMark;
  for (std::size_t at = 0; at < line.size();) {
    const auto c = static_cast<unsigned char>(line[at]);
    if (c >= 0x80) {
      const std::size_t length = utf8_length(line.substr(at));
      if (length == 0) return LineFault::NotUtf8;
      at += length;
      continue;
    }
    if (c == '\r') return LineFault::CarriageReturn;
    if ((c < 0x20 || c == 0x7f) && !(tabs && c == '\t')) return LineFault::Control;
    ++at;
  }
  return LineFault::Fine;
}

LineFault find_sentence_fault(std::string_view line, bool lenient) {
  if (!lenient) {
    if (const auto fault = find_fault(line, false); fault != LineFault::Fine) return fault;
    if (line.find("|||") != std::string_view::npos) return LineFault::Separator;
  }
  std::size_t n_tokens = 0;
  bool inside = false;
  for (std::size_t at = 0; at < line.size();) {
    const std::size_t length = utf8_length(line.substr(at));
    if (length == 0) return LineFault::NotUtf8;
    const bool blank = line[at] == ' ';
    if (!blank && !inside) ++n_tokens;
    inside = !blank;
    at += length;
  }
  return n_tokens > kMaxSentenceLength ? LineFault::TooLong : LineFault::Fine;
}

std::string in_quotes(std::string_view token) {
  constexpr std::size_t longest = 40;  // bytes
  std::string shown = "'";
  while (!token.empty() && shown.size() < longest) {
    const std::size_t length = utf8_length(token);
    const auto c = static_cast<unsigned char>(token[0]);
    if (length == 0 || c < 0x20 || c == 0x7f) {
      shown.push_back('?');
    } else {
      shown.append(token.substr(0, length));
    }
    token.remove_prefix(length == 0 ? 1 : length);
  }
  return shown + (token.empty() ? "'" : "…'");
}

void SpelledText::check() const {
  if (!are_offsets(offsets, tokens.size())) throw Error("sentence offsets do not match the tokens");
  if (!are_offsets(word_offsets, bytes.size())) throw Error("vocabulary offsets do not match its bytes");
  const auto n_words = static_cast<WordId>(word_offsets.size() - 1);
  if (std::any_of(tokens.begin(), tokens.end(), [&](WordId id) { return id >= n_words; }))
    throw Error("there are tokens that are not in the vocabulary");
}

void check_sentences(std::span<const std::int64_t> sentences, std::size_t n) {
  for (const auto s : sentences)
    if (s < 0 || to_size(s) >= n) throw Error("sentence " + std::to_string(s) + " of " + std::to_string(n));
}

std::string format_text(const SpelledText& text, std::span<const std::int64_t> sentences) {
  check_sentences(sentences, text.n_sentences());
  std::string out;
  for (const auto number : sentences) {
    const auto s = to_size(number);
    for (std::size_t i = 0; i < text.length(s); ++i) {
      if (i > 0) out.push_back(' ');
      out.append(text.word(s, i));
    }
    out.push_back('\n');
  }
  return out;
}

}  // namespace hyperbaton
