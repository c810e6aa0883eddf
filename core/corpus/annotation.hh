// What the readers of token annotations share: is this the word of the text, and numbers for labels.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "corpus/text.hh"

namespace hyperbaton {

// Whether an annotation's word is the text's word, whichever of the two is escaped: brackets as in treebanks
// (-LRB- and its kin, \/, `` and ''), or as Moses does (&apos; and its kin).
bool same_word(std::string_view annotated, std::string_view word);

// No label has this number: it stands for labels of another text.
inline constexpr std::uint16_t kUnknownLabel = std::numeric_limits<std::uint16_t>::max();

// The label's number. Labels are few: more than 65,535 of them is a LineError.
std::uint16_t add_label(Vocabulary& labels, std::string_view label, std::size_t line);

// LineError where the annotation's word is not the text's.
void check_word(std::string_view annotated, const SpelledText& text, std::size_t sentence, std::size_t position,
                std::size_t line);

// LineError unless the annotation has as many words as the sentence.
void check_length(std::size_t n_words, const SpelledText& text, std::size_t sentence, std::size_t line);

}  // namespace hyperbaton
