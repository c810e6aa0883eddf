// A priority queue whose first item can be replaced.
#pragma once

#include <cstddef>
#include <vector>

namespace hyperbaton {

// A binary heap: the children of item i are 2 i + 1 and 2 i + 2. `before(a, b)` must be a strict total order, so that the
// order of items does not depend on how they were added.
template <class Item, class Before>
class Heap {
 public:
  explicit Heap(const Before& before = Before()) : before_(before) {}
  bool empty() const { return items_.empty(); }
  const Item& front() const { return items_.front(); }
  void clear() { items_.clear(); }

  void push(const Item& item) {
    items_.push_back(item);
    std::size_t at = items_.size() - 1;
    for (; at > 0 && before_(item, items_[(at - 1) / 2]); at = (at - 1) / 2) items_[at] = items_[(at - 1) / 2];
    items_[at] = item;
  }
  void replace_front(const Item& item) {
    std::size_t at = 0;
    for (std::size_t child = 1; child < items_.size(); child = 2 * at + 1) {
      // Without a branch, which could not be predicted.
      if (child + 1 < items_.size()) child += before_(items_[child + 1], items_[child]) ? 1 : 0;
      if (!before_(items_[child], item)) break;
      items_[at] = items_[child];
      at = child;
    }
    items_[at] = item;
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
