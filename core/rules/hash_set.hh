// A set of hashes for filters: a few bytes per element, with a false positive rate of 2^-64.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
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

class HashSet {
 public:
  std::size_t size() const { return size_; }
  bool contains(std::uint64_t hash) const { return slots_[place(hash)] != 0; }
  void add(std::uint64_t hash) {
    auto& slot = slots_[place(hash)];
    if (slot != 0) return;
    slot = key(hash);
    if (2 * ++size_ > slots_.size()) grow();
  }
  void add(const HashSet& other) {
    // Hashes are iterated in slot order: in a smaller table they would all be adjacent.
    while (slots_.size() < other.slots_.size() || slots_.size() < 2 * (size_ + other.size_)) grow();
    for (const auto hash : other.hashes()) add(hash);
  }
  std::vector<std::uint64_t> hashes() const {
    std::vector<std::uint64_t> found;
    std::ranges::copy_if(slots_, std::back_inserter(found), [](std::uint64_t hash) { return hash != 0; });
    return found;
  }

 private:
  static std::uint64_t key(std::uint64_t hash) { return hash == 0 ? 1 : hash; }  // 0 marks a free slot
  std::size_t place(std::uint64_t hash) const {
    const auto mask = slots_.size() - 1;
    std::size_t at = hash & mask;
    while (slots_[at] != 0 && slots_[at] != key(hash)) at = (at + 1) & mask;
    return at;
  }
  void grow() {
    std::vector<std::uint64_t> old(2 * slots_.size());
    old.swap(slots_);
    for (const auto hash : old)
      if (hash != 0) slots_[place(hash)] = hash;
  }
  std::vector<std::uint64_t> slots_ = std::vector<std::uint64_t>(1024);
  std::size_t size_ = 0;
};

}  // namespace hyperbaton
