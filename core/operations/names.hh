// Operations by name, as Moses spells them in its operation models.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "operations/plan.hh"
#include "operations/walk.hh"

namespace hyperbaton {

inline constexpr std::string_view kTranslateItself = "_TRANS_SLF_";  // a word translated as itself

inline std::string move_name(Move move, int n) {
  switch (move) {
    case Move::InsertGap:
      return "_INS_GAP_";
    case Move::JumpForward:
      return "_JMP_FWD_";
    case Move::JumpBack:
      break;
  }
  return "_JMP_BCK_" + std::to_string(n);
}

// Write the name of the operation that generates a word into `name`. `source` and `target` give the spelling of a word of
// the phrase.
template <class Source, class Target>
void spell_word(const PhrasePlan& plan, const PlannedWord& word, const Source& source, const Target& target,
                std::string& name) {
  const auto append = [&](std::span<const std::uint16_t> words, const auto& spelling) {
    for (std::size_t k = 0; k < words.size(); ++k) {
      if (k > 0) name += "^_^";
      name += spelling(words[k]);
    }
  };
  name.clear();
  switch (word.kind) {
    case PlannedWord::Kind::Translate:
      name += "_TRANS_";
      append(plan.cepts[word.cept].target, target);
      name += "_TO_";
      append(plan.cepts[word.cept].source, source);
      break;
    case PlannedWord::Kind::Continue:
      name += "_CONT_CEPT_";
      break;
    case PlannedWord::Kind::Insert:
      name += "_INS_";
      name += source(word.position);
      break;
    case PlannedWord::Kind::Delete:
      name += "_DEL_";
      name += target(word.position);
      break;
  }
}

}  // namespace hyperbaton
