// A priority queue whose best entry can be replaced.
#pragma once

#include <cstddef>
#include <vector>

namespace hyperbaton {

// A binary heap: the children of entry i are 2 i + 1 and 2 i + 2. Entries are ordered by a.before(b).
template <class Entry>
class Heap {
 public:
  bool empty() const { return entries_.empty(); }
  const Entry& front() const { return entries_.front(); }
  void clear() { entries_.clear(); }

  void push(const Entry& entry) {
    entries_.push_back(entry);
    std::size_t at = entries_.size() - 1;
    for (; at > 0 && entry.before(entries_[(at - 1) / 2]); at = (at - 1) / 2) entries_[at] = entries_[(at - 1) / 2];
    entries_[at] = entry;
  }
  void replace_front(const Entry& entry) {
    std::size_t at = 0;
    for (std::size_t child = 1; child < entries_.size(); child = 2 * at + 1) {
      if (child + 1 < entries_.size() && entries_[child + 1].before(entries_[child])) ++child;
      if (!entries_[child].before(entry)) break;
      entries_[at] = entries_[child];
      at = child;
    }
    entries_[at] = entry;
  }
  void pop_front() {
    const Entry last = entries_.back();
    entries_.pop_back();
    if (!entries_.empty()) replace_front(last);
  }

 private:
  std::vector<Entry> entries_;
};

}  // namespace hyperbaton
