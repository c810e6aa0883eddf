// Numbers of features in the order in which sentences first have them.
//
// A pass over the sentences spends most of its time on weights and derivatives that are far apart in memory. Numbered in
// this order, the features of a jump are neighbours, and many of them meet again in other sentences; frequent features
// have small numbers.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace hyperbaton {

class FeatureNumbers {
 public:
  // The first n_first and the last n_last features keep their numbers.
  FeatureNumbers(std::size_t n_features, std::size_t n_first, std::size_t n_last);

  // Replace features by their numbers, and number those that have none.
  void renumber(std::span<std::uint32_t> features);
  // The feature of each number; features that no sentence has are numbered now.
  std::vector<std::uint32_t> order();

 private:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  std::uint32_t number_of(std::size_t feature) {
    std::uint32_t& number = numbers_[feature];
    if (number == kNone) number = next_++;
    return number;
  }

  std::vector<std::uint32_t> numbers_;
  std::uint32_t next_;
};

}  // namespace hyperbaton
