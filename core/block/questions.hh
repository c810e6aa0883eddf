// What the block model asks about a step (Xiang et al. 2011, sections 3 and 5): questions about the source words, the
// coverage and the words translated last. Training and decoding ask them through this file alone.
//
// A question with its answer, the target and the jump make a feature. A question's key does not contain the target or the
// jump: the feature's key is the question's combined with the target (or the target's tag), and each such key has a weight
// for each jump.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "base/hash.hh"
#include "corpus/trees.hh"
#include "phrases/coverage.hh"

namespace hyperbaton {

enum class BlockFamily : std::uint8_t {
  Lexical,
  Context,
  Tags,
  Coverage,
  ParseCoverage,
  SiblingWord,
  SiblingTag,
  AncestorCoverage
};
inline constexpr std::size_t kBlockFamilies = 8;

enum class Ask : std::uint8_t {
  Source,           // the source phrase alone
  PreviousSource,   // a: the source word before it
  NextSource,       // a: the source word behind it
  PreviousTarget,   // a: the target word before the target
  PreviousTargets,  // a, b: the two target words before it
  Tag,              // the source tag alone
  PreviousTag,      // a: the tag before it
  NextTag,          // a: the tag behind it
  LeftOpen,         // the source word before it is not translated
  RightClosed,      // the one behind it is
  ParseCoverage,    // a: label of the parent, b: its coverage
  SiblingWord,      // a: label of the sibling, b: a SiblingAnswer
  SiblingTag,       // the same, of the tag
  AncestorCoverage  // a: label of a node above the parent, b: its coverage
};
inline constexpr std::size_t kAsks = 14;

inline BlockFamily family_of(Ask ask) {
  constexpr BlockFamily families[] = {BlockFamily::Lexical,       BlockFamily::Context,
                                      BlockFamily::Context,       BlockFamily::Context,
                                      BlockFamily::Context,       BlockFamily::Tags,
                                      BlockFamily::Tags,          BlockFamily::Tags,
                                      BlockFamily::Coverage,      BlockFamily::Coverage,
                                      BlockFamily::ParseCoverage, BlockFamily::SiblingWord,
                                      BlockFamily::SiblingTag,    BlockFamily::AncestorCoverage};
  return families[static_cast<std::size_t>(ask)];
}
// Whether a question is about tags: then the target's tag makes the feature, not its words.
inline bool about_tags(Ask ask) {
  const auto family = family_of(ask);
  return family == BlockFamily::Tags || family == BlockFamily::SiblingTag;
}

// How much of a parse node is translated; the numbers of Xiang et al., Table 1.
enum class NodeCoverage : std::uint8_t { None = 0, Full = 1, Partial = 2 };
inline NodeCoverage node_coverage(const Coverage& covered, SourceSpan node) {
  if (!covered.any(node)) return NodeCoverage::None;
  return covered.all(node) ? NodeCoverage::Full : NodeCoverage::Partial;
}

// What a question about a sibling says of it, in one number.
struct SiblingAnswer {
  NodeCoverage coverage;
  bool right;  // it lies to the right

  std::uint32_t pack() const { return static_cast<std::uint32_t>(coverage) | (right ? 4U : 0U); }
  static SiblingAnswer unpack(std::uint32_t packed) { return {static_cast<NodeCoverage>(packed & 3), (packed & 4) != 0}; }
};

struct Question {
  Ask ask;
  std::uint32_t source;  // number of the source phrase, or tag
  std::uint32_t a, b;

  bool operator==(const Question&) const = default;
  std::uint64_t key() const {
    const auto head = static_cast<std::uint64_t>(ask) << 32 | source;
    return combine(combine(head, a), b);
  }
};

inline constexpr std::uint32_t kNone32 = std::numeric_limits<std::uint32_t>::max();
inline constexpr std::uint32_t kSentenceEdge = kNone32;  // in place of a word or tag before or behind the sentence

// The parent of a span in the tree, the nodes above it, and its siblings. The parent is that of the highest node over
// exactly the span, so never a unary one; where no node has the span, the lowest node around it.
struct Neighbourhood {
  struct Sibling {
    std::uint32_t label;
    SourceSpan span;
    bool right;
  };
  bool any = false;
  std::uint32_t parent_label = 0;
  SourceSpan parent{0, 0};
  struct Ancestor {
    std::uint32_t label;
    SourceSpan span;
  };
  std::vector<Ancestor> ancestors;  // from the parent's parent to the root
  std::vector<Sibling> siblings;
};

// A source sentence with what is known about it; tags and nodes may be missing.
struct BlockSentence {
  std::span<const WordId> words;
  std::span<const std::uint32_t> tags;
  std::span<const std::uint16_t> labels, begins, ends;  // nodes in pre-order
  std::span<const std::int32_t> parents;

  int size() const { return static_cast<int>(words.size()); }
  // Of a span: that of its last word.
  std::uint32_t tag(SourceSpan span) const { return tags.empty() ? kNone32 : tags[static_cast<std::size_t>(span.end) - 1]; }
  void neighbourhood(SourceSpan span, Neighbourhood& around) const;
};

// All source sentences of a text.
struct BlockText {
  TokensView words;
  std::span<const std::uint32_t> tags;
  TreesView trees;

  std::size_t size() const { return words.offsets.size() - 1; }
  BlockSentence operator[](std::size_t s) const;
  // Throws Error unless the parts fit each other.
  void check() const;
};

// What comes before a step: which source words are translated, and the last target words.
struct History {
  Coverage covered;
  WordId last, second_last;
};

// The families that are asked: a bit for each.
using FamilySet = std::uint32_t;
inline bool has(FamilySet set, BlockFamily family) { return (set >> static_cast<unsigned>(family)) & 1; }

// Questions whose answers do not change while a sentence is translated. `source`: number of the source phrase, kNone32 if
// nobody knows it.
void ask_fixed(const BlockSentence& sentence, SourceSpan span, std::uint32_t source, FamilySet families,
               std::vector<Question>& questions);
// The others. The same question is asked once, however many siblings or ancestors it is true of.
void ask_moving(const BlockSentence& sentence, SourceSpan span, const Neighbourhood& around, std::uint32_t source,
                const History& history, FamilySet families, std::vector<Question>& questions);

}  // namespace hyperbaton
