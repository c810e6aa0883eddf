// Cube pruning: of all (hypothesis, option) pairs that lead into a stack, only the most promising are scored.
//
// Hypotheses with the same coverage and the options of one span form a grid, both sorted best first. A queue over all
// grids of a stack yields the best pair; its neighbours in the grid then enter the queue, until `pop_limit` pairs have
// been popped. The queue contains at most one pair of each grid row (a hypothesis): the common part of a row's pairs is
// computed once, and each pair replaces the previous one of its row.
#include <algorithm>
#include <deque>
#include <vector>

#include "base/size.hh"
#include "decode/search.hh"

namespace hyperbaton {

class Cubes {
 public:
  explicit Cubes(Search& search) : search_(search), grids_(search.stacks_.size()) {}

  // Make the grids that start from a stack.
  void open(std::size_t s) {
    Interner coverages;
    std::vector<std::vector<std::uint32_t>> groups;
    const std::size_t n = Coverage::n_words(search_.space_.n_words());
    for (const auto id : search_.stacks_[s].ids()) {
      const auto [group, is_new] = coverages.number(std::span(search_.chart_.state(id), n));
      if (is_new) groups.emplace_back();
      groups[group].push_back(id);
    }
    for (const auto& group : groups) open_group(s, group);
  }

  // Fill a stack from the grids that lead there.
  void fill(std::size_t s) {
    queue_.clear();
    n_rows_ = 0;
    n_entered_ = 0;
    for (const auto& grid : grids_[s]) open_row(grid, grid.first, s);
    enter(false);
    for (std::size_t popped = 0; popped < search_.settings_.pop_limit && !queue_.empty(); ++popped) {
      Row& row = *queue_.front().row;
      if (row.valid) search_.keep(row.candidate, row.move.state.data());
      if (row.candidate.option == row.grid->span->first) open_row(*row.grid, row.at + 1, s);
      if (row.candidate.option + 1 < row.grid->span->last) propose(row, row.candidate.option + 1);
      enter(true);
    }
    std::vector<Grid>().swap(grids_[s]);
  }

 private:
  struct Grid {
    std::size_t first, last;  // rows: [first, last) of hypotheses_
    const Space::Span* span;
  };
  // A row of a grid, with its pair that is in the queue or about to enter it.
  struct Row {
    const Grid* grid;
    std::size_t at;  // its index in hypotheses_
    double score;    // of the hypothesis
    Space::Move move;
    Search::Candidate candidate;  // its state is that of the move
    bool valid;
  };
  struct Entry {
    double estimate;
    std::uint64_t number;  // in order of insertion
    Row* row;

    // Ties are broken by order of insertion.
    bool before(const Entry& other) const {
      return estimate != other.estimate ? estimate > other.estimate : number < other.number;
    }
  };

  // The hypotheses of a group for which accept(state) is true become [first_row_, last_row_). The rows of the previous
  // call are reused if they are equal, as they are without a distortion limit; long sentences would otherwise need much
  // memory.
  template <class Accept>
  void add_rows(const std::vector<std::uint32_t>& group, const Accept& accept) {
    const std::size_t at = hypotheses_.size();
    for (const auto id : group)
      if (accept(search_.chart_.state(id))) hypotheses_.push_back(id);
    if (std::equal(hypotheses_.begin() + static_cast<std::ptrdiff_t>(at), hypotheses_.end(),
                   hypotheses_.begin() + static_cast<std::ptrdiff_t>(first_row_),
                   hypotheses_.begin() + static_cast<std::ptrdiff_t>(last_row_))) {
      hypotheses_.resize(at);
    } else {
      first_row_ = at;
      last_row_ = hypotheses_.size();
    }
  }

  void open_group(std::size_t s, const std::vector<std::uint32_t>& group) {
    auto& space = search_.space_;
    const std::uint32_t* state = search_.chart_.state(group[0]);
    const Coverage covered = space.coverage(state);
    const int first_gap = covered.next_gap(0);
    for (int begin = first_gap; begin < space.n_words(); begin = covered.next_gap(begin + 1)) {
      search_.poll();
      const auto spans = space.spans_from(begin);
      add_rows(group, [&](const std::uint32_t* each) { return space.reachable(each, begin); });
      const auto n_rows = static_cast<std::int64_t>(last_row_ - first_row_), n = static_cast<std::int64_t>(spans.size());
      search_.counts_.spans += n * static_cast<std::int64_t>(group.size());
      search_.counts_.spans_cut += n * (static_cast<std::int64_t>(group.size()) - n_rows);
      if (n_rows == 0) continue;
      const int gap_end = covered.next_covered(begin);
      for (const auto& span : spans) {
        if (span.source.end > gap_end) break;
        if (!space.allowed(state, first_gap, span.source)) {
          search_.counts_.spans_cut += n_rows;
          continue;
        }
        if (space.prunes_jumps()) {
          add_rows(group, [&](const std::uint32_t* each) {
            return space.reachable(each, begin) && !space.improbable(each, first_gap, span.source);
          });
          search_.counts_.spans_cut += n_rows - static_cast<std::int64_t>(last_row_ - first_row_);
          if (first_row_ == last_row_) continue;
        }
        grids_[s + to_size(span.source.end - begin)].push_back({first_row_, last_row_, &span});
      }
    }
  }

  // Propose the first pair of the grid's row `at`, if that row exists.
  void open_row(const Grid& grid, std::size_t at, std::size_t stack) {
    if (at >= grid.last) return;
    if (n_rows_ == rows_.size()) rows_.emplace_back();
    Row& row = rows_[n_rows_++];
    const auto id = hypotheses_[at];
    const Hypothesis& from = search_.chart_[id];
    row.grid = &grid;
    row.at = at;
    row.score = from.score;
    search_.space_.prepare(search_.chart_.state(id), from.future, *grid.span, row.move);
    row.candidate = {id, grid.span->first, 0, row.move.future, row.move.ahead, stack};
    propose(row, grid.span->first);
  }

  // Score a pair, except for batched features.
  void propose(Row& row, std::uint32_t option) {
    auto& space = search_.space_;
    const std::uint32_t* state = search_.chart_.state(row.candidate.previous);
    float score;
    row.valid = space.apply(state, option, row.move, score);
    if (!row.valid) score = space.guess(state, option, row.move);
    row.candidate.option = option;
    row.candidate.score = row.score + score;
    proposed_.push_back(&row);
  }

  // Put the proposed pairs into the queue; the first one replaces the front if the front was popped. Batched features
  // score all of them in one call.
  void enter(bool front_taken) {
    if (search_.space_.has_batched() && !proposed_.empty()) {
      batch_.clear();
      for (Row* row : proposed_)
        batch_.push_back({search_.chart_.state(row->candidate.previous), row->candidate.option, row->move.state.data()});
      search_.space_.ask_batched(batch_, [&](std::size_t i, float score) { proposed_[i]->candidate.score += score; });
    }
    for (Row* row : proposed_) {
      if (row->valid) row->valid = search_.finished(row->candidate, row->move.state.data());
      const Entry entry{row->candidate.estimate(), n_entered_++, row};
      if (front_taken)
        sink(entry);
      else
        raise(entry);
      front_taken = false;
    }
    proposed_.clear();
    if (!front_taken) return;
    const Entry last = queue_.back();
    queue_.pop_back();
    if (!queue_.empty()) sink(last);
  }

  // The queue is a binary heap: the children of entry i are 2 i + 1 and 2 i + 2. Put an entry at its end or in place of
  // its front.
  void raise(const Entry& entry) {
    queue_.push_back(entry);
    std::size_t at = queue_.size() - 1;
    for (; at > 0 && entry.before(queue_[(at - 1) / 2]); at = (at - 1) / 2) queue_[at] = queue_[(at - 1) / 2];
    queue_[at] = entry;
  }
  void sink(const Entry& entry) {
    std::size_t at = 0;
    for (std::size_t child = 1; child < queue_.size(); child = 2 * at + 1) {
      if (child + 1 < queue_.size() && queue_[child + 1].before(queue_[child])) ++child;
      if (!queue_[child].before(entry)) break;
      queue_[at] = queue_[child];
      at = child;
    }
    queue_[at] = entry;
  }

  Search& search_;
  std::vector<std::vector<Grid>> grids_;      // by the stack they lead to
  std::vector<std::uint32_t> hypotheses_;     // of the rows of grids
  std::size_t first_row_ = 0, last_row_ = 0;  // the rows of the previous position
  std::deque<Row> rows_;                      // the first n_rows_ belong to this stack, the others are kept for reuse
  std::size_t n_rows_ = 0;
  std::vector<Row*> proposed_;
  std::vector<BatchedStep> batch_;
  std::vector<Entry> queue_;
  std::uint64_t n_entered_ = 0;
};

void Search::search_cubes() {
  Cubes cubes(*this);
  for (std::size_t s = 0; s < stacks_.size(); ++s) {
    cubes.fill(s);
    stacks_[s].finish(chart_, settings_.beam);
    cubes.open(s);
  }
}

}  // namespace hyperbaton
