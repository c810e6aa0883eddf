// What orientation models see of rules: their parts in target order, and the phrase pairs in them, called blocks.
//
// The target side of a rule consists of its gaps and of runs of words between them. The block of such a run is a phrase
// pair: the run, with the source words that are linked to it. These may lie on different sides of a gap; then the first
// one in target order and the words around it make one block, the last one and the words around it another. A source word
// without links belongs to the symbol on its left, or to that on its right if there is none: as in phrase extraction, such
// words do not make a phrase discontinuous. A rule without gaps is one block. A run without links is none.
//
// For hierarchical orientations (Galley and Manning 2008), a part also knows the largest run of parts that ends right
// before it in target order and is contiguous on the source side, and the largest one that begins with it. What is outside
// the rule cannot change whether a part is adjacent to these.
#pragma once

#include <vector>

#include "base/interner.hh"
#include "decode/options.hh"

namespace hyperbaton {

class RuleOptions;
struct RuleOption;
struct RuleSymbol;

// Source symbols of a rule, half-open.
struct SymbolRange {
  std::uint16_t first, last;
};

// A gap or a run of words of a target side.
struct RulePart {
  static constexpr std::uint8_t kWords = 0xff;
  std::uint8_t gap;                       // its number, or kWords
  SymbolRange first, last;                // the source side of its first and last block; of a gap, both are the gap's
  std::uint32_t first_block, last_block;  // numbers of their contents; unused for gaps
  // The largest contiguous runs of parts before this part and from it on; a single block if not even one part is
  // contiguous.
  SymbolRange before{0, 0}, from_here{0, 0};
};

// A phrase of a rule that is read as phrases (rescoring.hh): its source symbols, and the target symbol that it begins with.
// It ends where the next phrase begins.
struct RulePhrase {
  std::uint32_t begin;
  SymbolRange source;
};
std::vector<RulePhrase> phrases_of(const RuleOptions& options, const RuleOption& option);

// The blocks of a sentence. A block is a content, its words and links, at a position of the sentence.
class SentenceBlocks {
 public:
  // The number of a content, or any other number if there is no block with it.
  std::uint32_t content(std::span<const std::uint32_t> key) const { return contents_.find(key); }
  std::uint32_t add_content(std::span<const std::uint32_t> key) { return contents_.number(key).first; }
  std::span<const std::uint32_t> key_of(std::uint32_t content) const { return contents_.run<std::uint32_t>(content); }
  // The row of a block among those of all sentences; throws if it is unknown.
  std::uint32_t row(std::uint32_t content, int begin) const {
    const auto* number = numbers_.find(key(content, begin));
    if (!number) [[unlikely]]
      throw Error("the rules of a sentence are not those that its blocks were found with");
    return first_row + *number;
  }
  // The number of a block, which is added in the next row if it is new.
  std::uint32_t add(std::uint32_t content, SourceSpan span) {
    const auto [number, present] = numbers_.find_or_add(key(content, span.begin));
    if (present) return *number;
    *number = static_cast<std::uint32_t>(blocks.size());
    blocks.push_back({content, span});
    return *number;
  }

  struct Block {
    std::uint32_t content;
    SourceSpan span;
  };
  std::vector<Block> blocks;
  std::uint32_t first_row = 0;

 private:
  static std::uint64_t key(std::uint32_t content, int begin) {
    return std::uint64_t{content} << 16 | static_cast<std::uint64_t>(begin);
  }
  Interner contents_;
  U64Map numbers_;
};

// The parts of the rules that are used in a sentence, cut when they are needed.
class RuleParts {
 public:
  // Numbers of contents are those of `blocks`, to which new ones are added.
  explicit RuleParts(SentenceBlocks& blocks) : known_(blocks), added_to_(&blocks) {}
  // The contents must be known.
  explicit RuleParts(const SentenceBlocks& known) : known_(known) {}

  // The parts of an option, in target order. The result is valid until the next call.
  std::span<const RulePart> of(const RuleOptions& options, std::uint32_t option);

 private:
  struct TargetRun {
    std::span<const RuleSymbol> words;
    std::uint32_t first;  // the place of its first word
  };
  void cut(const RuleOptions& options, std::uint32_t option);
  // The number of a content: the numbers of source words and of target words, target words, and links.
  std::uint32_t block(const TargetRun& run, std::span<const Link> links, SymbolRange source);

  const SentenceBlocks& known_;
  SentenceBlocks* added_to_ = nullptr;
  struct Range {
    std::uint32_t first = 0, last = 0;
    bool is_cut = false;
  };
  std::vector<Range> by_option_;
  std::vector<RulePart> parts_;
  std::vector<std::uint32_t> key_;
};

// In the first number of a content: a word that is not in the table.
inline constexpr std::uint32_t kUnknownContent = 0x10000U;

// The blocks of all sentences, as options for models; they have no pair and no scores.
struct RuleBlocks {
  std::vector<SentenceBlocks> sentences;
  TranslationOptions options;

  // Fill in the options and the rows of the sentences.
  void fill_options();
};

}  // namespace hyperbaton
