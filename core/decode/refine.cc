// Refined search (Heafield, Kayser and Manning 2014): hypotheses and options are scored in groups first, by the words that
// they have in common, and only promising groups are taken apart.
//
// Hypotheses that differ in their last target words alone share a history, and everything but those words is scored once
// for a history and a source span. The hypotheses of a history form a tree: nothing is known of them, then the last word,
// then everything. So do the options of a span by their first words. An entry of the queue is a part of each tree, with the
// score of the best member of each; it is corrected once the words on both sides are known. The best entry is split on the
// side of which less is known, into the best child and the rest, until both sides are single; such a pair becomes a
// hypothesis. The search for a stack ends with `pop_limit` of these. What features add for a single pair is scored last,
// and batched features score a whole stack at once.
#include <algorithm>
#include <deque>
#include <tuple>
#include <vector>

#include "base/heap.hh"
#include "base/size.hh"
#include "decode/search.hh"

namespace hyperbaton {

namespace {

// Entries whose words are not known yet are preferred by this much: known words tend to fit better than average.
constexpr float kUnknownWords = 0.7F;

// Members in two levels, by word and then single, both best first.
struct Tree {
  struct Range {
    std::uint32_t first, last;
  };
  // Children of a node: words, or members with one word.
  struct Part {
    std::uint32_t first, last;
    std::uint32_t word;  // kNone if the children are words

    bool word_known() const { return word != kNone; }
    // 0: nothing, 1: the word, 2: a single member.
    int known() const { return word == kNone ? 0 : last - first > 1 ? 1 : 2; }
  };

  std::vector<Range> words;            // their members
  std::vector<std::uint32_t> members;  // by word

  // All of some words.
  Part part(Range range) const {
    return range.last - range.first == 1 ? only(range.first) : Part{range.first, range.last, kNone};
  }
  std::uint32_t best(const Part& part) const { return members[part.word_known() ? part.first : words[part.first].first]; }
  // The best child, and the others, of which there is at least one.
  Part head(const Part& of) const { return of.word_known() ? Part{of.first, of.first + 1, of.word} : only(of.first); }
  Part tail(const Part& of) const {
    return of.word_known() ? Part{of.first + 1, of.last, of.word} : part({of.first + 1, of.last});
  }

 private:
  Part only(std::uint32_t word) const { return {words[word].first, words[word].last, word}; }
};

}  // namespace

class Refinement {
 public:
  explicit Refinement(Search& search) : search_(search) { add_options(); }

  // Make the trees of a stack's hypotheses, and the grids that start from them: a row is a history.
  void open(std::size_t s, std::span<const std::uint32_t> hypotheses) {
    struct Place {
      std::uint32_t history, word, order, id;
      auto key() const { return std::tuple(history, word, order); }
    };
    auto& space = search_.space_;
    std::vector<Place> places;
    std::vector<std::uint32_t> state(space.state_size());
    for (const auto id : hypotheses) {
      // Numbers increase in the order of hypotheses, so that histories and words stay best first.
      std::copy_n(search_.chart_.state(id), state.size(), state.begin());
      space.shorten_words(state.data());
      const auto [word, is_new] = words_.number(std::span<const std::uint32_t>(state));
      if (is_new) word_states_.insert(word_states_.end(), state.begin(), state.end());
      space.hide_words(state.data());
      const auto history = histories_.number(std::span<const std::uint32_t>(state)).first;
      places.push_back({history, word, static_cast<std::uint32_t>(places.size()), id});
    }
    std::ranges::sort(places, {}, &Place::key);
    std::vector<std::uint32_t> best;
    history_of_.resize(std::max(history_of_.size(), search_.chart_.size()));
    for (std::size_t i = 0; i < places.size(); ++i) {
      const bool is_first = i == 0 || places[i].history != places[i - 1].history;
      if (is_first) {
        best.push_back(places[i].id);
        history_of_[places[i].id] = static_cast<std::uint32_t>(history_words_.size());
        history_words_.push_back({n_words(), n_words()});
      }
      if (is_first || places[i].word != places[i - 1].word) {
        const auto at = static_cast<std::uint32_t>(hypotheses_.members.size());
        hypotheses_.words.push_back({at, at});
        state_of_word_.push_back(places[i].word);
        ++history_words_.back().last;
      }
      hypotheses_.members.push_back(places[i].id);
      ++hypotheses_.words.back().last;
    }
    search_.grids_.open(s, best);
  }

  void fill(std::size_t s) {
    queue_.clear();
    entries_.clear();
    front_is_free_ = false;
    n_rows_ = 0;
    for (const auto& grid : search_.grids_.leading_to(s)) open_row(grid, grid.first);
    std::size_t made = 0;
    for (auto now = take_front(); made < search_.settings_.pop_limit && now != kNone;) {
      search_.poll();
      Row& row = *entries_[now].row;
      if (!row.next_is_open) {
        row.next_is_open = true;
        open_row(*row.grid, row.at + 1);
      }
      if (entries_[now].is_single()) {
        if (make(entries_[now], s)) ++made;
        now = take_front();
      } else {
        now = better_of(split(now));
      }
    }
    search_.flush();
  }

 private:
  // A history with a span.
  struct Row {
    const Grid* grid;
    std::size_t at;  // its number
    Space::Move move;
    const std::uint32_t* state;  // of its best hypothesis
    bool next_is_open;
  };
  struct Entry {
    Row* row;
    float option_score;  // of the best option after the history
    Tree::Part hypotheses, options;
    bool is_single() const { return hypotheses.known() == 2 && options.known() == 2; }
  };
  struct Queued {
    double estimate;
    std::uint32_t entry;
  };
  // Ties are broken by order of insertion.
  struct Before {
    bool operator()(const Queued& a, const Queued& b) const {
      return a.estimate != b.estimate ? a.estimate > b.estimate : a.entry < b.entry;
    }
  };

  std::uint32_t n_words() const { return static_cast<std::uint32_t>(hypotheses_.words.size()); }

  // The trees of all spans: options by first word.
  void add_options() {
    auto& space = search_.space_;
    std::vector<std::pair<WordId, std::vector<std::uint32_t>>> words;
    for (int begin = 0; begin < space.n_words(); ++begin)
      for (const auto& span : space.spans_from(begin)) {
        words.clear();
        for (auto option = span.first; option < span.last; ++option) {
          const auto target = space.target(option);
          const WordId first = target.empty() ? kUnknownWord : target[0];
          auto found = std::ranges::find(words, first, [](const auto& each) { return each.first; });
          if (found == words.end()) found = words.insert(words.end(), {first, {}});
          found->second.push_back(option);
        }
        const auto at = static_cast<std::uint32_t>(options_.words.size());
        for (const auto& [first, members] : words) {
          const auto from = static_cast<std::uint32_t>(options_.members.size());
          options_.members.insert(options_.members.end(), members.begin(), members.end());
          options_.words.push_back({from, static_cast<std::uint32_t>(options_.members.size())});
        }
        option_words_.resize(span.first + 1);
        option_words_[span.first] = {at, static_cast<std::uint32_t>(options_.words.size())};
      }
  }

  // Enter the grid's row `at`, if it exists.
  void open_row(const Grid& grid, std::size_t at) {
    if (at >= grid.last) return;
    if (n_rows_ == rows_.size()) rows_.emplace_back();
    Row& row = rows_[n_rows_++];
    const auto id = search_.grids_.hypothesis(at);
    row.grid = &grid;
    row.at = at;
    row.state = search_.chart_.state(id);
    row.next_is_open = false;
    search_.space_.prepare(row.state, search_.chart_[id].future, *grid.span, row.move);
    const auto options = options_.part(option_words_[grid.span->first]);
    put(add({&row, option_score(row, options_.best(options)), hypotheses_.part(history_words_[history_of_[id]]), options}));
  }

  float option_score(const Row& row, std::uint32_t option) const {
    return search_.space_.guess(row.state, option, row.move) + row.move.future + row.move.ahead;
  }

  Queued add(const Entry& entry) {
    const auto id = hypotheses_.best(entry.hypotheses);
    float correction = kUnknownWords;
    if (entry.hypotheses.word_known() && entry.options.word_known()) {
      const bool single = entry.hypotheses.known() == 2;
      const std::uint32_t* state = single ? search_.chart_.state(id) : word_state(entry.hypotheses.word);
      correction = search_.space_.correction(state, options_.best(entry.options));
    }
    entries_.push_back(entry);
    return {search_.chart_[id].score + entry.option_score + correction, static_cast<std::uint32_t>(entries_.size() - 1)};
  }

  // Split an entry on the side of which less is known: put the others into the queue and return the best child.
  Queued split(std::uint32_t at) {
    Entry best = entries_[at], others = entries_[at];
    if (best.hypotheses.known() <= best.options.known()) {
      best.hypotheses = hypotheses_.head(best.hypotheses);
      others.hypotheses = hypotheses_.tail(others.hypotheses);
    } else {
      best.options = options_.head(best.options);
      others.options = options_.tail(others.options);
      others.option_score = option_score(*others.row, options_.best(others.options));
    }
    put(add(others));
    return add(best);
  }

  // The best entry of the queue, kNone if there is none. Its place is free for the next one that is put there.
  std::uint32_t take_front() {
    if (front_is_free_) queue_.pop_front();
    front_is_free_ = !queue_.empty();
    return front_is_free_ ? queue_.front().entry : kNone;
  }
  void put(const Queued& queued) {
    if (front_is_free_)
      queue_.replace_front(queued);
    else
      queue_.push(queued);
    front_is_free_ = false;
  }
  // This entry, or the front of the queue, which it then replaces.
  std::uint32_t better_of(const Queued& queued) {
    if (Before()(queued, queue_.front())) return queued.entry;
    const auto front = queue_.front().entry;
    queue_.replace_front(queued);
    return front;
  }

  // The state that knows only a word.
  const std::uint32_t* word_state(std::uint32_t word) const {
    return &word_states_[state_of_word_[word] * search_.space_.state_size()];
  }

  // Make a hypothesis of a single pair; false if a forced translation forbids it.
  bool make(const Entry& entry, std::size_t stack) {
    Row& row = *entry.row;
    const auto id = hypotheses_.best(entry.hypotheses), option = options_.best(entry.options);
    float score;
    if (!search_.space_.apply(search_.chart_.state(id), option, row.move, score)) return false;
    search_.add({id, option, search_.chart_[id].score + score, row.move.future, row.move.ahead, stack}, row.move.state());
    return true;
  }

  Search& search_;
  Tree hypotheses_, options_;
  std::vector<Tree::Range> history_words_, option_words_;  // by history, and by the first option of a span
  Interner histories_, words_;                             // states without target words, and with the last one
  std::vector<std::uint32_t> word_states_;                 // states with the last word
  std::vector<std::uint32_t> state_of_word_;               // by word of the hypotheses
  std::vector<std::uint32_t> history_of_;                  // by its best hypothesis
  std::deque<Row> rows_;  // the first n_rows_ belong to this stack, the others are kept for reuse
  std::size_t n_rows_ = 0;
  std::vector<Entry> entries_;
  Heap<Queued, Before> queue_;
  bool front_is_free_ = false;
};

void Search::search_refined() {
  Refinement refinement(*this);
  for (std::size_t s = 0; s < stacks_.size(); ++s) {
    refinement.fill(s);
    grids_.close(s);
    refinement.open(s, stacks_[s].finish(chart_, settings_.beam));
  }
}

}  // namespace hyperbaton
