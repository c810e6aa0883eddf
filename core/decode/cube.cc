// Cube pruning: of all (hypothesis, option) pairs that lead into a stack, only the most promising are scored.
//
// Hypotheses with the same coverage and the options of one span form a grid, both sorted best first. A queue over all
// grids of a stack yields the best pair; its neighbours in the grid then enter the queue, until `pop_limit` pairs have
// been popped. The queue contains at most one pair of each grid row (a hypothesis): the common part of a row's pairs is
// computed once, and each pair replaces the previous one of its row.
#include <vector>

#include "base/heap.hh"
#include "decode/search.hh"

namespace hyperbaton {

class Cubes {
 public:
  explicit Cubes(Search& search) : search_(search) {}

  // Fill a stack from the grids that lead there.
  void fill(std::size_t s) {
    queue_.clear();
    n_rows_ = 0;
    n_entered_ = 0;
    for (const auto& grid : search_.grids_.leading_to(s)) open_row(grid, grid.first, s);
    enter(false);
    for (std::size_t popped = 0; popped < search_.settings_.pop_limit && !queue_.empty(); ++popped) {
      const auto at = queue_.front().row;
      Row& row = rows_[at];
      if (row.valid) search_.keep(row.candidate, row.move.state());
      const Grid& grid = *row.grid;
      const auto option = row.candidate.option++;
      if (option == grid.span->first) open_row(grid, row.at + 1, s);  // which may move `row`
      if (option + 1 < grid.span->last) proposed_.push_back(at);
      enter(true);
    }
  }

 private:
  // A row of a grid, with its pair that is in the queue or about to enter it.
  struct Row {
    const Grid* grid;
    std::size_t at;               // its number
    double score;                 // of the hypothesis
    Search::Candidate candidate;  // its state is that of the move
    bool valid;
    Space::Move move;
  };
  struct Entry {
    double estimate;
    std::uint32_t number;  // in order of insertion
    std::uint32_t row;
  };
  // Ties are broken by order of insertion.
  struct Before {
    bool operator()(const Entry& a, const Entry& b) const {
      return a.estimate > b.estimate || (a.estimate == b.estimate && a.number < b.number);
    }
  };

  // Propose the first pair of the grid's row `at`, if that row exists.
  void open_row(const Grid& grid, std::size_t at, std::size_t stack) {
    if (at >= grid.last) return;
    if (n_rows_ == rows_.size()) rows_.emplace_back();
    Row& row = rows_[n_rows_];
    const auto id = search_.grids_.hypothesis(at);
    const Hypothesis& from = search_.chart_[id];
    row.grid = &grid;
    row.at = at;
    row.score = from.score;
    search_.space_.prepare(search_.chart_.state(id), from.future, *grid.span, row.move);
    row.candidate = {id, grid.span->first, 0, row.move.future, row.move.ahead, stack};
    proposed_.push_back(n_rows_++);
  }

  // Score the pair of a row, except for batched features.
  void score(Row& row) {
    auto& space = search_.space_;
    const std::uint32_t* state = search_.chart_.state(row.candidate.previous);
    float score;
    row.valid = space.apply(state, row.candidate.option, row.move, score);
    if (!row.valid) score = space.guess(state, row.candidate.option, row.move);
    row.candidate.score = row.score + score;
  }

  // Score the proposed pairs and put them into the queue; the first one replaces the front if the front was popped.
  // Batched features score all of them in one call.
  void enter(bool front_taken) {
    for (const auto at : proposed_) score(rows_[at]);
    if (search_.space_.has_batched() && !proposed_.empty()) {
      batch_.clear();
      for (const auto at : proposed_) {
        Row& row = rows_[at];
        batch_.push_back({search_.chart_.state(row.candidate.previous), row.candidate.option, row.move.state()});
      }
      search_.space_.ask_batched(batch_, [&](std::size_t i, float score) { rows_[proposed_[i]].candidate.score += score; });
    }
    for (const auto at : proposed_) {
      Row& row = rows_[at];
      if (row.valid) row.valid = search_.finished(row.candidate, row.move.state());
      const Entry entry{row.candidate.estimate(), n_entered_++, at};
      if (front_taken)
        queue_.replace_front(entry);
      else
        queue_.push(entry);
      front_taken = false;
    }
    proposed_.clear();
    if (front_taken) queue_.pop_front();
  }

  Search& search_;
  std::vector<Row> rows_;  // the first n_rows_ belong to this stack, the others are kept for reuse
  std::uint32_t n_rows_ = 0;
  std::vector<std::uint32_t> proposed_;  // rows
  std::vector<BatchedStep> batch_;
  Heap<Entry, Before> queue_;
  std::uint32_t n_entered_ = 0;
};

void Search::search_cubes() {
  Cubes cubes(*this);
  for (std::size_t s = 0; s < stacks_.size(); ++s) {
    cubes.fill(s);
    grids_.close(s);
    grids_.open(s, stacks_[s].finish(chart_, settings_.beam));
  }
}

}  // namespace hyperbaton
