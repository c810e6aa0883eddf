// The steps of translating a phrase pair, word by word (Durrani et al. 2015, section 3): its cepts in the order of their
// first target words, unlinked source words right after the preceding word, and unlinked target words in between.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "align/links.hh"

namespace hyperbaton {

// Source and target words that are linked, directly or through others; positions increase.
struct Cept {
  std::vector<std::uint16_t> source, target;
};

struct PlannedWord {
  enum class Kind : std::uint8_t {
    Translate,  // the first source word of a cept
    Continue,   // another source word of the cept
    Insert,     // a source word without links
    Delete,     // a target word without links
  };
  Kind kind;
  std::uint16_t position;  // inside the phrase: of the source word; for Delete, of the target word
  std::uint16_t cept;      // for Translate

  bool generates() const { return kind != Kind::Delete; }  // a source word
};

struct PhrasePlan {
  std::vector<Cept> cepts;
  std::vector<PlannedWord> words;
};

struct PhraseSize {
  int n_source, n_target;
};

// The links must be inside the phrase, in any order.
PhrasePlan plan_phrase(std::span<const Link> links, PhraseSize size);

}  // namespace hyperbaton
