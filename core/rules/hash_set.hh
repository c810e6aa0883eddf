// Sets and tables of 64-bit hashes: a few bytes per element. Two of n elements share a hash with a probability of n² 2^-65.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/hash.hh"
#include "corpus/vocabulary.hh"

namespace hyperbaton {

inline std::uint64_t hash_symbols(std::span<const WordId> symbols) {
  std::uint64_t hash = symbols.size();
  for (const auto symbol : symbols) hash = combine(hash, symbol);
  return hash;
}

// A table with open addressing of slots, which have a `hash`, 0 if they are free.
template <class Slot>
class HashTable {
 public:
  std::size_t size() const { return size_; }
  const Slot& find(std::uint64_t hash) const { return slots_[place(hash)]; }
  Slot& find_or_add(std::uint64_t hash) {
    auto at = place(hash);
    if (slots_[at].hash != 0) return slots_[at];
    if (4 * ++size_ > 3 * slots_.size()) {
      grow();
      at = place(hash);
    }
    slots_[at].hash = key(hash);
    return slots_[at];
  }

 protected:
  static std::uint64_t key(std::uint64_t hash) { return hash == 0 ? 1 : hash; }
  std::size_t place(std::uint64_t hash) const {
    const auto mask = slots_.size() - 1;
    std::size_t at = hash & mask;
    while (slots_[at].hash != 0 && slots_[at].hash != key(hash)) at = (at + 1) & mask;
    return at;
  }
  void grow() {
    std::vector<Slot> old(2 * slots_.size());
    old.swap(slots_);
    for (const auto& slot : old)
      if (slot.hash != 0) slots_[place(slot.hash)] = slot;
  }
  std::vector<Slot> slots_ = std::vector<Slot>(1024);
  std::size_t size_ = 0;
};

struct HashSlot {
  std::uint64_t hash = 0;
};

class HashSet : public HashTable<HashSlot> {
 public:
  bool contains(std::uint64_t hash) const { return find(hash).hash != 0; }
  void add(std::uint64_t hash) { find_or_add(hash); }
  void add(const HashSet& other) {
    // Hashes are iterated in slot order: in a smaller table they would all be adjacent.
    while (slots_.size() < other.slots_.size() || slots_.size() < 2 * (size_ + other.size_)) grow();
    for (const auto& slot : other.slots_)
      if (slot.hash != 0) add(slot.hash);
  }
  std::vector<std::uint64_t> hashes() const {
    std::vector<std::uint64_t> found;
    for (const auto& slot : slots_)
      if (slot.hash != 0) found.push_back(slot.hash);
    return found;
  }
};

}  // namespace hyperbaton
