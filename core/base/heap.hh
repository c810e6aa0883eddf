// A priority queue whose first item can be replaced.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace hyperbaton {

// A heap: the children of item i are 4 i + 1 to 4 i + 4, which needs half the levels of two. `before(a, b)` must be a
// strict total order, so that the order of items does not depend on how they were added.
template <class Item, class Before>
class Heap {
 public:
  explicit Heap(const Before& before = Before()) : before_(before) {}
  bool empty() const { return items_.empty(); }
  const Item& front() const { return items_.front(); }
  void clear() { items_.clear(); }

  void push(const Item& item) {
    items_.push_back(item);
    Item* const items = items_.data();
    std::size_t at = items_.size() - 1;
    for (; at > 0 && before_(item, items[(at - 1) / 4]); at = (at - 1) / 4) items[at] = items[(at - 1) / 4];
    items[at] = item;
  }
  void replace_front(const Item& item) {
    Item* const items = items_.data();
    std::size_t at = 0;
    for (std::size_t first = 1; first < items_.size(); first = 4 * at + 1) {
      std::size_t best = first;
      // Without branches, which could not be predicted.
      for (auto child = first + 1; child < std::min(first + 4, items_.size()); ++child)
        best = before_(items[child], items[best]) ? child : best;
      if (!before_(items[best], item)) break;
      items[at] = items[best];
      at = best;
    }
    items[at] = item;
  }
  void pop_front() {
    const Item last = items_.back();
    items_.pop_back();
    if (!items_.empty()) replace_front(last);
  }

 private:
  Before before_;
  std::vector<Item> items_;
};

}  // namespace hyperbaton
