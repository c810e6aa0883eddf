// The questions of the block model about a step (Xiang et al. 2011, sections 3 and 5): about the source words, the
// coverage and the last translated words. Training and decoding ask them only through this file.
//
// A question with its answer, the target and the jump form a feature. A question's key contains neither target nor jump:
// the feature's key combines the question's key with the target (or its tag), and each such key has a weight for each
// jump.
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
  NextSource,       // a: the source word after it
  PreviousTarget,   // a: the target word before the target
  PreviousTargets,  // a, b: the two target words before it
  Tag,              // the source tag alone
  PreviousTag,      // a: the tag before it
  NextTag,          // a: the tag after it
  LeftOpen,         // the source word before it is not translated
  RightClosed,      // the source word after it is translated
  ParseCoverage,    // a: label of the parent, b: its coverage
  SiblingWord,      // a: label of the sibling, b: a SiblingAnswer
  SiblingTag,       // like SiblingWord, for the tag
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
// Whether a question is about tags: then the feature is made of the target's tag, not its words.
inline bool about_tags(Ask ask) {
  const auto family = family_of(ask);
  return family == BlockFamily::Tags || family == BlockFamily::SiblingTag;
}

// How much of a parse node is translated; the numbering is that of Xiang et al., Table 1.
enum class NodeCoverage : std::uint8_t { None = 0, Full = 1, Partial = 2 };
inline NodeCoverage node_coverage(const Coverage& covered, SourceSpan node) {
  if (!covered.any(node)) return NodeCoverage::None;
  return covered.all(node) ? NodeCoverage::Full : NodeCoverage::Partial;
}

// The answer of a question about a sibling as one number.
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
inline constexpr std::uint32_t kSentenceEdge = kNone32;  // instead of a word or tag outside the sentence

// The parent of a span in the tree, its ancestors and its siblings. The parent is that of the highest node over exactly
// this span, so never a unary one; if no node has the span, it is the lowest node around it.
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

// A source sentence with its annotations; tags and nodes may be missing.
struct BlockSentence {
  std::span<const WordId> words;
  std::span<const std::uint32_t> tags;
  std::span<const std::uint16_t> labels, begins, ends;  // nodes in pre-order
  std::span<const std::int32_t> parents;

  int size() const { return static_cast<int>(words.size()); }
  // The tag of a span: that of its last word.
  std::uint32_t tag(SourceSpan span) const { return tags.empty() ? kNone32 : tags[to_size(span.end) - 1]; }
  void neighbourhood(SourceSpan span, Neighbourhood& around) const;
};

// All source sentences of a text.
struct BlockText {
  TokensView words;
  std::span<const std::uint32_t> tags;
  TreesView trees;

  std::size_t size() const { return words.offsets.size() - 1; }
  BlockSentence operator[](std::size_t s) const;
  // Throws Error unless the parts match.
  void check() const;
};

// The history of a step: which source words are translated, and the last target words.
struct History {
  Coverage covered;
  WordId last, second_last;
};

// The families of questions that are asked: a bit for each.
using FamilySet = std::uint32_t;
inline bool has(FamilySet set, BlockFamily family) { return (set >> static_cast<unsigned>(family)) & 1; }

// Questions whose answers do not change while a sentence is translated. `source`: number of the source phrase, kNone32 if
// unknown.
void ask_fixed(const BlockSentence& sentence, SourceSpan span, std::uint32_t source, FamilySet families,
               std::vector<Question>& questions);
// The other questions. A question is asked once, however many siblings or ancestors give the same answer.
void ask_moving(const BlockSentence& sentence, SourceSpan span, const Neighbourhood& around, std::uint32_t source,
                const History& history, FamilySet families, std::vector<Question>& questions);

}  // namespace hyperbaton
