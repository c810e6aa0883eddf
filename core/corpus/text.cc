#include "corpus/text.hh"

#include "base/errors.hh"

namespace hyperbaton {

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
  const std::string_view mark = "\xef\xbb\xbf";
  if (line.starts_with(mark)) {
    if (!repair_) return LineFault::ByteOrderMark;
    line.remove_prefix(mark.size());
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
  const auto length = tokens_.size() - static_cast<std::size_t>(offsets_.back());
  return length > kMaxSentenceLength ? LineFault::TooLong : LineFault::Fine;
}

void TextBuilder::add_line(std::string_view line) {
  if (const auto fault = add_tokens(line); fault != LineFault::Fine) {
    if (!repair_) throw LineError(offsets_.size(), describe(fault));
    faults_.emplace_back(static_cast<std::int64_t>(n_lines()), fault);
    tokens_.resize(static_cast<std::size_t>(offsets_.back()));
  }
  offsets_.push_back(static_cast<std::int64_t>(tokens_.size()));
}

std::string format_text(std::span<const WordId> tokens, std::span<const std::int64_t> offsets,
                        std::span<const std::uint8_t> vocabulary_bytes,
                        std::span<const std::int64_t> vocabulary_offsets, std::span<const std::int64_t> sentences) {
  std::string text;
  const auto* bytes = reinterpret_cast<const char*>(vocabulary_bytes.data());
  for (const auto s : sentences) {
    for (auto i = offsets[s]; i < offsets[s + 1]; ++i) {
      if (i > offsets[s]) text.push_back(' ');
      const WordId id = tokens[i];
      text.append(bytes + vocabulary_offsets[id],
                  static_cast<std::size_t>(vocabulary_offsets[id + 1] - vocabulary_offsets[id]));
    }
    text.push_back('\n');
  }
  return text;
}

}  // namespace hyperbaton
