// Constituency trees as flat arrays, read from and written as bracketed text.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "corpus/text.hh"

namespace hyperbaton {

// The nodes of all trees, each tree in pre-order: a parent comes before its children, and a node is followed by its
// descendants. Nodes are brackets; the words below them are the tokens of the text. A sentence without a tree has no
// nodes.
struct TreesBuffer {
  std::vector<std::uint16_t> labels;
  std::vector<std::uint16_t> begins, ends;  // the tokens covered by a node, half-open
  std::vector<std::int32_t> parents;        // relative to the sentence's first node; -1 for the root
  std::vector<std::int64_t> offsets{0};     // of sentences into the nodes
};

struct TreesView {
  std::span<const std::uint16_t> labels, begins, ends;
  std::span<const std::int32_t> parents;
  std::span<const std::int64_t> offsets;
};

// Reads one bracketed tree per line, (S (NP (PRP he)) (VP (VBZ eats))), whose leaves are the tokens of the text.
//
// An empty line, or brackets without a word (the output of parsers that fail), is a sentence without a tree. A file whose
// first line starts with a number and a tab is sparse: each line consists of the 1-based number of a sentence, in
// increasing order, a tab, and its tree.
class TreeReader {
 public:
  explicit TreeReader(SpelledText text) : text_(text) { text_.check(); }
  void feed(std::string_view piece) {
    splitter_.feed(piece, [this](std::string_view line) { add_line(line); });
  }
  // Throws LineError if a file that is not sparse has fewer lines than the text.
  void finish();
  TreesBuffer take() { return std::move(trees_); }
  const Vocabulary& labels() const { return labels_; }

 private:
  void add_line(std::string_view line);
  void add_tree(std::string_view tree);
  std::size_t sentence() const { return trees_.offsets.size() - 1; }
  void end_sentence() { trees_.offsets.push_back(static_cast<std::int64_t>(trees_.labels.size())); }

  enum class Format : std::uint8_t { Unknown, Dense, Sparse };

  SpelledText text_;
  LineSplitter splitter_;
  Format format_ = Format::Unknown;
  std::size_t n_lines_ = 0;
  Vocabulary labels_;
  TreesBuffer trees_;
};

// Bracketed text, one line per selected sentence; brackets inside words are written as -LRB- and -RRB-.
std::string format_trees(const TreesView& trees, const Vocabulary& labels, const SpelledText& text,
                         std::span<const std::int64_t> sentences);

}  // namespace hyperbaton
