// A growing table from 64-bit keys to 32-bit values, by open addressing.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/hash.hh"

namespace hyperbaton {

class U64Map {
 public:
  // The value of a key, or a slot for it: (value, whether it existed).
  std::pair<std::uint32_t*, bool> find_or_add(std::uint64_t key) {
    if (n_free_ == 0) [[unlikely]]
      grow();
    Slot* slot = probe(key);
    if (slot->used) return {&slot->value, true};
    *slot = {key, 0, true};
    --n_free_;
    return {&slot->value, false};
  }

  void clear() {
    std::ranges::fill(slots_, Slot{});
    n_free_ = slots_.size() / 2;
  }

  // The value of a key, or null.
  const std::uint32_t* find(std::uint64_t key) const {
    if (slots_.empty()) return nullptr;
    const Slot* slot = const_cast<U64Map*>(this)->probe(key);
    return slot->used ? &slot->value : nullptr;
  }

 private:
  struct Slot {
    std::uint64_t key = 0;
    std::uint32_t value = 0;
    bool used = false;
  };
  Slot* probe(std::uint64_t key) {
    Slot* const slots = slots_.data();
    std::size_t at = home_slot(key, shift_);
    while (slots[at].used && slots[at].key != key) at = (at + 1) & (slots_.size() - 1);
    return slots + at;
  }
  [[gnu::noinline]] void grow() {
    std::vector<Slot> old(slots_.empty() ? 64 : 2 * slots_.size());
    old.swap(slots_);
    shift_ = 64 - static_cast<unsigned>(std::countr_zero(slots_.size()));
    n_free_ = (slots_.size() - old.size()) / 2;
    for (const auto& slot : old)
      if (slot.used) *probe(slot.key) = slot;
  }

  std::vector<Slot> slots_;
  std::size_t n_free_ = 0;  // keys that can be added before it grows, at half its slots
  unsigned shift_ = 0;
};

}  // namespace hyperbaton
