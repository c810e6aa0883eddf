// The walk through the source sentence, word by word, and its operations: leave a gap, jump back to the n-th open gap
// from the right, jump forward to the right end (Durrani et al. 2015, algorithm 1).
//
// A gap is a run of untranslated words left of the right end. The gap at the current position becomes open when the walk
// leaves it; all others are open. So the coverage and that position determine the state.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "phrases/coverage.hh"

namespace hyperbaton {

enum class Move : std::uint8_t { InsertGap, JumpForward, JumpBack };

class SourceWalk {
 public:
  // `at`: one past the word that was translated last.
  SourceWalk(const Coverage& covered, int n_words, int at) : SourceWalk(n_words) {
    at_ = at;
    for (int i = covered.next_covered(0); i < n_words; i = covered.next_covered(end_)) {
      end_ = covered.next_gap(i);
      Coverage::set(words(), {i, end_});
    }
  }
  explicit SourceWalk(int n_words) : n_words_(n_words), at_(0), end_(0) {
    if (Coverage::n_words(n_words) > near_.size()) far_.assign(Coverage::n_words(n_words), 0);
  }

  int at() const { return at_; }
  // Move to an untranslated word. Calls emit(move, n), with the number of the gap for JumpBack; returns whether a gap was
  // inserted.
  template <class Emit>
  bool go(int word, const Emit& emit) {
    bool inserted = false;
    const auto insert_gap = [&] {
      emit(Move::InsertGap, 0);
      inserted = true;
    };
    if (at_ < word) {
      if (!covered()[at_]) insert_gap();
      if (at_ != end_) emit(Move::JumpForward, 0);
      at_ = at_ == end_ ? word : end_;
    }
    if (word < at_) {
      if (at_ < end_ && !covered()[at_]) insert_gap();
      at_ = covered().gap_begin(word);
      emit(Move::JumpBack, n_gaps(at_));
    }
    if (at_ < word) {
      insert_gap();
      at_ = word;
    }
    return inserted;
  }
  // Translate the word at the current position.
  void generate() {
    Coverage::set(words(), {at_, at_ + 1});
    ++at_;
    end_ = std::max(end_, at_);
  }
  int first_gap() const { return covered().next_gap(0); }
  int n_open_gaps() const { return n_gaps(0) - (at_ < end_ && !covered()[at_] ? 1 : 0); }

 private:
  std::uint32_t* words() { return far_.empty() ? near_.data() : far_.data(); }
  Coverage covered() const { return {far_.empty() ? near_.data() : far_.data(), n_words_}; }
  // Gaps that start at `from` or later.
  int n_gaps(int from) const {
    int n = 0;
    for (int gap = covered().next_gap(from); gap < end_; gap = covered().next_gap(covered().next_covered(gap))) ++n;
    return n;
  }

  std::array<std::uint32_t, 4> near_{};  // the coverage, of most sentences and all phrases
  std::vector<std::uint32_t> far_;       // of longer sentences
  int n_words_, at_, end_;
};

}  // namespace hyperbaton
