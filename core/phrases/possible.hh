// The orientation classes that a phrase can have, given the visited source words.
//
// A phrase that begins at b follows some visited word p, or −1 if nothing is visited: its distance p + 1 − b can be in a
// class only if there is such a word. Of Moses' orientations, monotone needs the word before the phrase, swap the word
// after it, and the discontinuous ones need a word farther left or right.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "align/links.hh"
#include "phrases/coverage.hh"
#include "phrases/orientation.hh"
#include "phrases/sample_coverage.hh"

namespace hyperbaton {

class PossibleClasses {
 public:
  static constexpr std::size_t kMost = 24;  // classes of a set
  // The classes of distances between cut points that increase.
  explicit PossibleClasses(std::vector<std::int32_t> cuts);
  // The classes to which Moses' four orientations are merged.
  explicit PossibleClasses(const std::array<std::uint8_t, 4>& merge);

  // Bit c: class c is possible. At least one bit is set.
  std::uint32_t mask(const Coverage& visited, int n_words, SourceSpan phrase) const {
    return is_distance_ ? of_distances(visited, n_words, phrase.begin) : of_orientations(visited, n_words, phrase);
  }

  Unlinked unlinked() const { return is_distance_ ? Unlinked::NotVisited : Unlinked::WithNeighbours; }

 private:
  std::uint32_t of_distances(const Coverage& visited, int n_words, int begin) const;
  std::uint32_t of_orientations(const Coverage& visited, int n_words, SourceSpan phrase) const;

  bool is_distance_;
  std::vector<std::int32_t> cuts_;
  std::array<std::uint8_t, 4> merge_{};
};

// The mask of each sample. Distances are those to linked words; Moses' orientations are decided by phrases with all their
// words, so unlinked words count there as in a translation.
std::vector<std::uint32_t> possible_of_samples(const SamplePlaces& samples, LinksView links, SentenceLengths source,
                                               const PossibleClasses& classes);

}  // namespace hyperbaton
