// Cube pruning: of all (hypothesis, option) pairs that lead into a stack, only the most promising are scored.
//
// Hypotheses with the same coverage and the options of one span make a grid, both best first. A queue over all grids of a
// stack gives the best pair; its neighbours in the grid then enter the queue, until `pop_limit` pairs were taken.
#include <algorithm>
#include <queue>

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
    queue_ = {};
    items_.clear();
    candidates_.clear();
    states_.clear();
    n_entered_ = 0;
    for (const auto& grid : grids_[s]) propose(grid, 0, 0, s);
    enter();
    for (std::size_t popped = 0; popped < search_.settings_.pop_limit && !queue_.empty(); ++popped) {
      const auto i = queue_.top().second;
      queue_.pop();
      const Item item = items_[i];
      if (item.valid) search_.keep(candidates_[i], states_.data() + i * search_.chart_.stride());
      if (item.column == 0) propose(*item.grid, item.row + 1, 0, s);
      propose(*item.grid, item.row, item.column + 1, s);
      enter();
    }
    std::vector<Grid>().swap(grids_[s]);
  }

 private:
  struct Grid {
    std::size_t first, last;  // rows: hypotheses of rows_
    const Space::Span* span;
  };
  struct Item {
    const Grid* grid;
    std::size_t row, column;
    bool valid;
  };

  // The hypotheses of a group for which accept(state) is true become [first_row_, last_row_). Those of the call before are
  // used again where they are the same, as they are without a distortion limit: long sentences would need much memory.
  template <class Accept>
  void add_rows(const std::vector<std::uint32_t>& group, const Accept& accept) {
    const std::size_t at = rows_.size();
    for (const auto id : group)
      if (accept(search_.chart_.state(id))) rows_.push_back(id);
    if (std::equal(rows_.begin() + static_cast<std::ptrdiff_t>(at), rows_.end(),
                   rows_.begin() + static_cast<std::ptrdiff_t>(first_row_),
                   rows_.begin() + static_cast<std::ptrdiff_t>(last_row_))) {
      rows_.resize(at);
    } else {
      first_row_ = at;
      last_row_ = rows_.size();
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
        grids_[s + static_cast<std::size_t>(span.source.end - begin)].push_back({first_row_, last_row_, &span});
      }
    }
  }

  // Score a pair but for what batched features say; `enter` puts all that were proposed into the queue.
  void propose(const Grid& grid, std::size_t row, std::size_t column, std::size_t stack) {
    const auto option = grid.span->first + static_cast<std::uint32_t>(column);
    if (grid.first + row >= grid.last || option >= grid.span->last) return;
    auto& space = search_.space_;
    const auto id = rows_[grid.first + row];
    const Hypothesis& from = search_.chart_[id];
    const std::uint32_t* state = search_.chart_.state(id);
    space.prepare(state, from.future, *grid.span, move_);
    float score;
    bool valid = space.apply(state, option, move_, score);
    if (!valid) score = space.guess(state, option, move_);
    candidates_.push_back({id, option, from.score + score, move_.future, move_.ahead, stack});
    items_.push_back({&grid, row, column, valid});
    states_.insert(states_.end(), move_.state.begin(), move_.state.end());
  }

  // Batched features are asked once for all pairs that wait.
  void enter() {
    const std::size_t first = n_entered_, stride = search_.chart_.stride();
    if (search_.space_.has_batched())
      search_.ask_batched(std::span(candidates_).subspan(first), std::span(states_).subspan(first * stride));
    for (std::size_t i = first; i < items_.size(); ++i) {
      if (items_[i].valid) items_[i].valid = search_.finished(candidates_[i], states_.data() + i * stride);
      // Equal estimates come in the order in which they entered.
      queue_.push({candidates_[i].estimate(), i});
    }
    n_entered_ = items_.size();
  }

  struct Later {
    bool operator()(const std::pair<double, std::size_t>& a, const std::pair<double, std::size_t>& b) const {
      return a.first != b.first ? a.first < b.first : a.second > b.second;
    }
  };

  Search& search_;
  std::vector<std::vector<Grid>> grids_;  // by the stack they lead to
  std::vector<std::uint32_t> rows_;
  std::size_t first_row_ = 0, last_row_ = 0;  // the rows of the last position
  std::vector<Item> items_;
  std::vector<Search::Candidate> candidates_;  // of items
  std::vector<std::uint32_t> states_;          // of items
  std::size_t n_entered_ = 0;                  // items that are or were in the queue
  std::priority_queue<std::pair<double, std::size_t>, std::vector<std::pair<double, std::size_t>>, Later> queue_;
  Space::Move move_;
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
