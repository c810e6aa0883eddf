// Word links of a bitext: a sorted set of (source, target) points for each sentence pair.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "align/direction.hh"
#include "corpus/text.hh"

namespace hyperbaton {

struct Link {
  std::uint16_t source, target;
  auto operator<=>(const Link&) const = default;
};
static_assert(sizeof(Link) == 4, "links are stored as pairs of 16-bit numbers");

// Token offsets of a text: sentence s has offsets[s+1] - offsets[s] words. Without offsets the text is unknown, and any
// number of sentences of any permitted length is accepted.
struct SentenceLengths {
  std::span<const std::int64_t> offsets;
  bool known() const { return !offsets.empty(); }
  std::size_t n_sentences() const { return known() ? offsets.size() - 1 : std::numeric_limits<std::size_t>::max(); }
  int operator[](std::size_t s) const {
    return known() ? static_cast<int>(offsets[s + 1] - offsets[s]) : static_cast<int>(kMaxSentenceLength);
  }
};

// A view of all links: those of sentence pair s are points[offsets[s] .. offsets[s+1]).
struct LinksView {
  std::span<const Link> points;
  std::span<const std::int64_t> offsets;
  std::span<const Link> operator[](std::size_t s) const { return valid_slice(points, offsets, s); }
};

struct LinksBuffer {
  std::vector<Link> points;
  std::vector<std::int64_t> offsets{0};
  // Sort, remove duplicates and finish the sentence pair.
  void end_sentence();
};

// Reads Pharaoh links, `i-j` with 0-based positions, one line per sentence pair.
class PharaohReader {
 public:
  PharaohReader(SentenceLengths source, SentenceLengths target) : source_(source), target_(target) {}
  void feed(std::string_view piece) {
    splitter_.feed(piece, [this](std::string_view line) { add_line(line); });
  }
  // Throws LineError if there are fewer lines than sentence pairs.
  void finish();
  // The links read since the last call; their offsets start from 0.
  LinksBuffer take() {
    n_taken_ = n_sentences();
    return std::exchange(links_, {});
  }

 private:
  void add_line(std::string_view line);
  std::size_t n_sentences() const { return n_taken_ + links_.offsets.size() - 1; }
  SentenceLengths source_, target_;
  LineSplitter splitter_;
  LinksBuffer links_;
  std::size_t n_taken_ = 0;  // sentence pairs
};

// Reads GIZA++ Viterbi alignments (A3 files: three lines per sentence pair).
//
// The second line is the generated sentence, the third the generating one, where each word is followed by the 1-based
// positions it generates. If the direction is to the target, the third line is our source.
class GizaReader {
 public:
  GizaReader(SentenceLengths source, SentenceLengths target, Direction direction)
      : source_(source), target_(target), direction_(direction) {}
  void feed(std::string_view piece) {
    splitter_.feed(piece, [this](std::string_view line) { add_line(line); });
  }
  void finish();
  LinksBuffer take() { return std::move(links_); }

 private:
  void add_line(std::string_view line);
  void add_generators(std::string_view line);
  SentenceLengths source_, target_;
  Direction direction_;
  LineSplitter splitter_;
  LinksBuffer links_;
  std::size_t n_lines_ = 0;
  int n_generated_ = 0;  // words of the sentence of the second line
};

// Pharaoh text, one line per sentence pair.
std::string format_links(LinksView links, std::span<const std::int64_t> sentences);

// The visit order of each sentence pair (SPEC section 1): source positions ordered by their first linked target word,
// then by source position.
struct VisitOrders {
  std::vector<std::uint16_t> positions;
  std::vector<std::int64_t> offsets;
};
VisitOrders visit_orders(LinksView links, unsigned n_threads);

// Two links cross if their source words and target words are in opposite order.
struct Crossings {
  std::int64_t n_crossings;  // pairs of links that cross
  std::int64_t n_straight;   // links that cross no other link
};
std::vector<Crossings> count_crossings(LinksView links, unsigned n_threads);

}  // namespace hyperbaton
