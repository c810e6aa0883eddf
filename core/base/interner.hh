// Interning: numbers runs of plain data (states, phrases, rows of scores) so that equal runs have equal numbers.
#pragma once

#include <cstring>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/u64_map.hh"

namespace hyperbaton {

class Interner {
 public:
  // The number of the run, and whether it is new. Numbers count from 0.
  template <class T>
  std::pair<std::uint32_t, bool> number(std::span<const T> run) {
    const std::string_view key(reinterpret_cast<const char*>(run.data()), run.size_bytes());
    const auto [head, found] = heads_.find_or_add(hash_bytes(key));
    if (found)
      for (auto at = *head; at != 0; at = next_[at - 1])
        if (run_of(at - 1) == key) return {at - 1, false};
    next_.push_back(found ? *head : 0);
    bytes_.insert(bytes_.end(), key.begin(), key.end());
    ends_.push_back(bytes_.size());
    *head = static_cast<std::uint32_t>(next_.size());
    return {*head - 1, true};
  }
  // The number of a run, or 2³² − 1 if it has none.
  template <class T>
  std::uint32_t find(std::span<const T> run) const {
    const std::string_view key(reinterpret_cast<const char*>(run.data()), run.size_bytes());
    const auto* head = heads_.find(hash_bytes(key));
    for (auto at = head ? *head : 0; at != 0; at = next_[at - 1])
      if (run_of(at - 1) == key) return at - 1;
    return ~0U;
  }
  // The run of a number.
  template <class T>
  std::span<const T> run(std::uint32_t number) const {
    const auto bytes = run_of(number);
    return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
  }
  std::size_t size() const { return next_.size(); }
  // All runs, in the order of their numbers.
  std::span<const char> bytes() const { return bytes_; }

 private:
  std::string_view run_of(std::size_t i) const {
    const std::size_t begin = i == 0 ? 0 : ends_[i - 1];
    return {bytes_.data() + begin, ends_[i] - begin};
  }

  U64Map heads_;                     // hash to the newest number with it, plus one
  std::vector<std::uint32_t> next_;  // an older number with the same hash, plus one
  std::vector<char> bytes_;
  std::vector<std::size_t> ends_;
};

}  // namespace hyperbaton
