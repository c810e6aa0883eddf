// A growing table from 64-bit keys to 32-bit values, by open addressing.
#pragma once

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
    if (2 * (size_ + 1) > slots_.size()) grow();
    Slot* slot = probe(key);
    if (slot->used) return {&slot->value, true};
    *slot = {key, 0, true};
    ++size_;
    return {&slot->value, false};
  }

  void clear() {
    for (auto& slot : slots_) slot.used = false;
    size_ = 0;
  }

  // The value of a key, or null.
  const std::uint32_t* find(std::uint64_t key) const {
    if (slots_.empty()) return nullptr;
    const Slot* slot = const_cast<U64Map*>(this)->probe(key);
    return slot->used ? &slot->value : nullptr;
  }

 private:
  struct Slot {
    std::uint64_t key;
    std::uint32_t value;
    bool used;
  };
  Slot* probe(std::uint64_t key) {
    std::size_t at = mix(key) & (slots_.size() - 1);
    while (slots_[at].used && slots_[at].key != key) at = (at + 1) & (slots_.size() - 1);
    return &slots_[at];
  }
  void grow() {
    std::vector<Slot> old(slots_.empty() ? 64 : 2 * slots_.size(), Slot{0, 0, false});
    old.swap(slots_);
    for (const auto& slot : old)
      if (slot.used) *probe(slot.key) = slot;
  }

  std::vector<Slot> slots_;
  std::size_t size_ = 0;
};

}  // namespace hyperbaton
