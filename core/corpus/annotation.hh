// Common parts of the readers of token annotations: matching words against the text, and numbering labels.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "corpus/text.hh"

namespace hyperbaton {

// Whether an annotated word equals the word of the text when either of them is escaped: brackets as in treebanks (-LRB-
// etc., \/, `` and ''), or entities as in Moses (&apos; etc.).
bool same_word(std::string_view annotated, std::string_view word);

// Reserved number for labels that do not occur in this text.
inline constexpr std::uint16_t kUnknownLabel = std::numeric_limits<std::uint16_t>::max();

// The label's number. More than 65,535 different labels is a LineError.
std::uint16_t add_label(Vocabulary& labels, std::string_view label, std::size_t line);

// Throws LineError if the annotated word is not the word of the text.
void check_word(std::string_view annotated, const SpelledText& text, std::size_t sentence, std::size_t position,
                std::size_t line);

// Throws LineError unless the annotation has as many words as the sentence.
void check_length(std::size_t n_words, const SpelledText& text, std::size_t sentence, std::size_t line);

}  // namespace hyperbaton
