// A hash table (open addressing) of scores after a state, with the resulting state.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "base/hash.hh"

namespace hyperbaton {

struct Scored {
  float score;
  std::uint32_t state;
};

class ScoreMap {
 public:
  // The result, or a slot for it: (result, whether it existed).
  std::pair<Scored*, bool> find_or_add(std::uint32_t state, std::uint32_t of) {
    if (2 * (size_ + 1) > slots_.size()) grow();
    const auto key = (static_cast<std::uint64_t>(state) << 32 | of) + 1;  // 0 is a free slot
    Slot& slot = slots_[probe(key)];
    const bool found = slot.key == key;
    if (!found) {
      slot.key = key;
      ++size_;
    }
    return {&slot.scored, found};
  }

 private:
  struct Slot {
    std::uint64_t key = 0;
    Scored scored{0, 0};
  };
  std::size_t probe(std::uint64_t key) const {
    std::size_t at = mix(key) & (slots_.size() - 1);
    while (slots_[at].key != 0 && slots_[at].key != key) at = (at + 1) & (slots_.size() - 1);
    return at;
  }
  void grow() {
    std::vector<Slot> old(slots_.empty() ? 1024 : 2 * slots_.size());
    old.swap(slots_);
    for (const auto& slot : old)
      if (slot.key != 0) slots_[probe(slot.key)] = slot;
  }

  std::vector<Slot> slots_;
  std::size_t size_ = 0;
};

}  // namespace hyperbaton
