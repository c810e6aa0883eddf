#include "corpus/annotation.hh"

#include <array>

#include "base/counted.hh"
#include "base/errors.hh"

namespace hyperbaton {

namespace {

struct Escape {
  std::string_view escaped, plain;
};

constexpr std::array<Escape, 10> kEntities{{
    {"&amp;", "&"},
    {"&apos;", "'"},
    {"&quot;", "\""},
    {"&lt;", "<"},
    {"&gt;", ">"},
    {"&#124;", "|"},
    {"&#91;", "["},
    {"&#93;", "]"},
    {"&bra;", "["},
    {"&ket;", "]"},
}};

constexpr std::array<Escape, 10> kTreebank{{
    {"-LRB-", "("},
    {"-RRB-", ")"},
    {"-LSB-", "["},
    {"-RSB-", "]"},
    {"-LCB-", "{"},
    {"-RCB-", "}"},
    {"\\/", "/"},
    {"\\*", "*"},
    {"``", "\""},
    {"''", "\""},
}};

// One pass from left to right, so that the result of an escape is never read as the start of another one.
template <std::size_t n>
std::string replace_all(std::string_view word, const std::array<Escape, n>& escapes) {
  std::string plain;
  while (!word.empty()) {
    bool replaced = false;
    for (const auto& escape : escapes) {
      if (!word.starts_with(escape.escaped)) continue;
      plain.append(escape.plain);
      word.remove_prefix(escape.escaped.size());
      replaced = true;
      break;
    }
    if (replaced) continue;
    plain.push_back(word.front());
    word.remove_prefix(1);
  }
  return plain;
}

std::string plain_word(std::string_view word) { return replace_all(replace_all(word, kEntities), kTreebank); }

}  // namespace

bool same_word(std::string_view annotated, std::string_view word) {
  return annotated == word || plain_word(annotated) == plain_word(word);
}

std::uint16_t add_label(Vocabulary& labels, std::string_view label, std::size_t line) {
  const WordId id = labels.add(label);
  if (id >= kUnknownLabel) throw LineError(line, "more than " + std::to_string(kUnknownLabel) + " different labels");
  return static_cast<std::uint16_t>(id);
}

void check_word(std::string_view annotated, const SpelledText& text, std::size_t sentence, std::size_t position,
                std::size_t line) {
  const auto place = ", but line " + std::to_string(sentence + 1) + " of the text has ";
  if (position >= text.length(sentence))
    throw LineError(line, "word " + std::to_string(position + 1) + " is " + in_quotes(annotated) + place + "only " +
                              counted(text.length(sentence), "word"));
  const auto word = text.word(sentence, position);
  if (!same_word(annotated, word))
    throw LineError(line, "word " + std::to_string(position + 1) + " is " + in_quotes(annotated) + place + in_quotes(word));
}

void check_length(std::size_t n_words, const SpelledText& text, std::size_t sentence, std::size_t line) {
  if (n_words != text.length(sentence))
    throw LineError(line, counted(n_words, "word") + ", but line " + std::to_string(sentence + 1) + " of the text has " +
                              std::to_string(text.length(sentence)));
}

}  // namespace hyperbaton
