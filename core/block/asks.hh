// Names of the questions and of their answers.
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "block/questions.hh"

namespace hyperbaton {

inline constexpr std::array<std::string_view, kBlockFamilies> kBlockFamilyNames{
    "lexical", "context", "tags", "coverage", "parse-coverage", "sibling-word", "sibling-tag", "ancestor-coverage"};

// What the numbers of a question count.
enum class AskedOf : std::uint8_t { Nothing, SourceWords, TargetWords, Tags, Labels };

struct AskText {
  Ask ask;
  std::string_view asked;  // empty if the question is only the source phrase or its tag
  AskedOf of;

  std::string_view family() const { return kBlockFamilyNames[static_cast<std::size_t>(family_of(ask))]; }
};

// By Ask.
inline constexpr std::array<AskText, kAsks> kAskTexts{{{Ask::Source, "", AskedOf::Nothing},
                                                       {Ask::PreviousSource, "previous word", AskedOf::SourceWords},
                                                       {Ask::NextSource, "next word", AskedOf::SourceWords},
                                                       {Ask::PreviousTarget, "target before", AskedOf::TargetWords},
                                                       {Ask::PreviousTargets, "targets before", AskedOf::TargetWords},
                                                       {Ask::Tag, "", AskedOf::Nothing},
                                                       {Ask::PreviousTag, "previous tag", AskedOf::Tags},
                                                       {Ask::NextTag, "next tag", AskedOf::Tags},
                                                       {Ask::LeftOpen, "left open", AskedOf::Nothing},
                                                       {Ask::RightClosed, "right closed", AskedOf::Nothing},
                                                       {Ask::ParseCoverage, "parent", AskedOf::Labels},
                                                       {Ask::SiblingWord, "sibling", AskedOf::Labels},
                                                       {Ask::SiblingTag, "sibling", AskedOf::Labels},
                                                       {Ask::AncestorCoverage, "ancestor", AskedOf::Labels}}};

// The content of a question.
struct Answer {
  std::vector<std::uint32_t> numbers;    // of the words, tags or label that it asks about, in the order of the text
  std::optional<NodeCoverage> coverage;  // of the node with the label
  std::optional<bool> right;             // whether the sibling lies to the right
};
inline Answer read_answer(const AskText& text, std::uint32_t a, std::uint32_t b) {
  if (text.of == AskedOf::Nothing) return {};
  if (text.of != AskedOf::Labels)
    return {text.ask == Ask::PreviousTargets ? std::vector{b, a} : std::vector{a}, std::nullopt, std::nullopt};
  if (text.ask == Ask::ParseCoverage || text.ask == Ask::AncestorCoverage)
    return {{a}, static_cast<NodeCoverage>(b), std::nullopt};
  const auto sibling = SiblingAnswer::unpack(b);
  return {{a}, sibling.coverage, sibling.right};
}

}  // namespace hyperbaton
