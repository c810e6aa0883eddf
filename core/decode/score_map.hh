// Hash tables (open addressing) whose keys are pairs of numbers, such as scores after a state.
#pragma once

#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/hash.hh"

namespace hyperbaton {

template <class Value>
class PairMap {
 public:
  // The value, or a slot for it: (value, whether it existed). The numbers must not both be 2³² − 1.
  std::pair<Value*, bool> find_or_add(std::uint32_t first, std::uint32_t second) {
    if (n_free_ == 0) [[unlikely]]
      grow();
    const auto key = (static_cast<std::uint64_t>(first) << 32 | second) + 1;  // 0 is a free slot
    Slot& slot = probe(key);
    const bool found = slot.key == key;
    if (!found) {
      slot.key = key;
      --n_free_;
    }
    return {&slot.value, found};
  }

 private:
  struct Slot {
    std::uint64_t key = 0;
    Value value{};
  };
  Slot& probe(std::uint64_t key) {
    Slot* const slots = slots_.data();
    std::size_t at = home_slot(key, shift_);
    while (slots[at].key != 0 && slots[at].key != key) at = (at + 1) & (slots_.size() - 1);
    return slots[at];
  }
  [[gnu::noinline]] void grow() {
    std::vector<Slot> old(slots_.empty() ? 1024 : 2 * slots_.size());
    old.swap(slots_);
    shift_ = 64 - static_cast<unsigned>(std::countr_zero(slots_.size()));
    n_free_ = (slots_.size() - old.size()) / 2;
    for (const auto& slot : old)
      if (slot.key != 0) probe(slot.key) = slot;
  }

  std::vector<Slot> slots_;
  std::size_t n_free_ = 0;  // keys that can be added before it grows, at half its slots
  unsigned shift_ = 0;
};

struct Scored {
  float score;
  std::uint32_t state;
};
using ScoreMap = PairMap<Scored>;

}  // namespace hyperbaton
