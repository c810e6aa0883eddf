// The candidates for the next position: the source words that are not visited yet, and the end.
//
// Words are 0 … n − 1, the end is n; the current position is the last visited word, −1 at the start. The coverage around
// a candidate is summarised in one class, so that a model can have a weight for each:
//   of a word   whether it precedes the current position; how many words are left between the two (0, 1 or 2, more);
//               whether its left neighbour is visited (that of the first word always is), whether its right neighbour is;
//               whether it is the first word left.
//   of the end  how many words are left (0, 1, 2, 3 to 4, 5 to 8, more)
#pragma once

#include <cstddef>

#include "base/size.hh"
#include "phrases/coverage.hh"

namespace hyperbaton {

inline constexpr std::size_t kWordCandidateClasses = 48, kEndClasses = 6;
inline constexpr std::size_t kCandidateClasses = kWordCandidateClasses + kEndClasses;

class Remaining {
 public:
  Remaining(const Coverage& visited, int n_words, int current)
      : visited_(visited), n_words_(n_words), current_(current), first_(visited.next_gap(0)) {}

  // Call use(candidate) for the remaining words, in order, and for the end.
  template <class Use>
  void each(Use&& use) const {
    for (int word = first_; word < n_words_; word = visited_.next_gap(word + 1)) use(word);
    use(n_words_);
  }

  // The class of a candidate, below kCandidateClasses.
  std::size_t class_of(int candidate) const {
    if (candidate == n_words_) return kWordCandidateClasses + end_class();
    const bool back = candidate < current_;
    const int between = back ? n_left(candidate + 1, current_, 3) : n_left(current_ + 1, candidate, 3);
    const std::size_t rank = between == 0 ? 0 : between < 3 ? 1 : 2;
    const bool left = candidate == 0 || visited_[candidate - 1];
    const bool right = candidate + 1 < n_words_ && visited_[candidate + 1];
    return (((std::size_t{back} * 3 + rank) * 2 + left) * 2 + right) * 2 + (candidate == first_);
  }

 private:
  // The number of remaining words in [begin, end), capped at `most`.
  int n_left(int begin, int end, int most) const {
    int n = 0;
    for (int word = visited_.next_gap(begin); word < end && n < most; word = visited_.next_gap(word + 1)) ++n;
    return n;
  }
  std::size_t end_class() const {
    const int n = n_left(0, n_words_, 9);
    return n < 3 ? to_size(n) : n < 5 ? 3 : n < 9 ? 4 : 5;
  }

  const Coverage visited_;
  int n_words_, current_, first_;
};

}  // namespace hyperbaton
