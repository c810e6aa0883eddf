// The best translations of sentences, read from the columns of a search.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "corpus/text.hh"
#include "decode/options.hh"

namespace hyperbaton {

// The phrases of the best translation of each sentence, in target order. Long sentences have several pieces, and some
// pieces have no translation.
class BestPhrases {
 public:
  // Pieces of sentences, paths of pieces (best first) and steps of paths, by their offsets; each step is a phrase.
  BestPhrases(std::span<const std::int64_t> pieces, std::span<const std::int64_t> path_offsets,
              std::span<const std::int64_t> step_offsets, std::span<const std::int64_t> steps);

  // A line for each sentence.
  std::string lines(const SpelledText& phrases) const;

  // The links of each sentence: those inside its phrases, which begin at `begins` in their pieces, shifted into place.
  LinksBuffer links(const LinksView& inside, std::span<const std::uint16_t> begins,
                    std::span<const std::int64_t> target_offsets, std::span<const std::int64_t> source_offsets) const;

 private:
  struct Phrase {
    std::size_t number, first_piece, piece;  // the first piece of its sentence, and its own
  };
  void check(std::size_t n_phrases) const;

  std::vector<Phrase> phrases_;
  std::vector<std::int64_t> offsets_{0};  // of sentences
};

}  // namespace hyperbaton
