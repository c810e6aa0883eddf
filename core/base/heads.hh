// The heads of sorted runs that are being merged.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace hyperbaton {

// The next item of each unfinished run, the smallest first. `before(a, b)` must be a strict total order: ties between
// equal items are broken by the order of their runs.
template <class Head, class Before>
class Heads {
 public:
  explicit Heads(const Before& before) : before_(before) {}
  bool empty() const { return heads_.empty(); }
  const Head& least() const { return heads_[0]; }
  void add(const Head& head) {
    heads_.push_back(head);
    std::push_heap(heads_.begin(), heads_.end(), [&](const Head& a, const Head& b) { return before_(b, a); });
  }
  // Replace the smallest item by the next one of its run.
  void replace_least(const Head& head) {
    std::size_t at = 0;
    while (2 * at + 1 < heads_.size()) {
      std::size_t child = 2 * at + 1;
      if (child + 1 < heads_.size() && before_(heads_[child + 1], heads_[child])) ++child;
      if (!before_(heads_[child], head)) break;
      heads_[at] = heads_[child];
      at = child;
    }
    heads_[at] = head;
  }
  void remove_least() {
    const auto last = heads_.back();
    heads_.pop_back();
    if (!heads_.empty()) replace_least(last);
  }

 private:
  Before before_;
  std::vector<Head> heads_;
};

}  // namespace hyperbaton
