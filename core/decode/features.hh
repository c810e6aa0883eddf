// The features of a search: the list of kinds, and the layout of each feature's values and states.
//
// Features are scored kind by kind, in the order of this list; within a kind, in the order given. Their values are laid
// out in the same order, with the option's own values last.
#pragma once

#include <algorithm>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

#include "decode/features/distance.hh"
#include "decode/features/jump.hh"
#include "decode/features/lm.hh"
#include "decode/features/operations.hh"
#include "decode/features/orientation.hh"
#include "decode/features/step.hh"

namespace hyperbaton {

template <Feature... Kinds>
struct KindList {
  using Input = std::variant<typename Kinds::Input...>;
  template <template <class...> class Container>
  using Vectors = std::tuple<Container<Kinds>...>;
};
using FeatureKinds = KindList<DistanceFeature, LmFeature, OrientationFeature, JumpFeature, OperationFeature, StepFeature>;
using FeatureInput = FeatureKinds::Input;

// The features of sentences that are translated together, with their names and columns of values.
class FeatureList {
 public:
  struct Entry {
    std::string name;
    FeatureInput input;
    std::size_t column;  // its first column
  };

  void add(std::string name, FeatureInput input) {
    const auto behind =
        std::ranges::upper_bound(entries_, input.index(), {}, [](const Entry& e) { return e.input.index(); });
    entries_.insert(behind, {std::move(name), std::move(input), 0});
    n_values_ = 0;
    for (auto& entry : entries_) {
      entry.column = n_values_;
      n_values_ += std::visit([](const auto& each) { return each.n_values(); }, entry.input);
    }
  }
  const std::vector<Entry>& entries() const { return entries_; }
  // Columns of all features; those of the option's own values follow.
  std::size_t n_values() const { return n_values_; }
  // The name of each column.
  std::vector<std::string> column_names() const {
    std::vector<std::string> names(n_values_);
    for (std::size_t i = 0; i < entries_.size(); ++i)
      std::fill(names.begin() + static_cast<std::ptrdiff_t>(entries_[i].column),
                i + 1 < entries_.size() ? names.begin() + static_cast<std::ptrdiff_t>(entries_[i + 1].column) : names.end(),
                entries_[i].name);
    return names;
  }
  // The name of each feature with classes.
  std::vector<std::string> class_names() const {
    std::vector<std::string> names;
    for (const auto& entry : entries_)
      if (std::holds_alternative<OptionScorer>(entry.input)) names.push_back(entry.name);
    return names;
  }

 private:
  std::vector<Entry> entries_;  // by kind
  std::size_t n_values_ = 0;
};

// The features of one sentence, in its search.
class FeatureSet {
 public:
  // A feature with its layout: first word in a state, first column of values, and memo of a step.
  template <class F>
  struct Placed {
    F feature;
    std::size_t state, column, memo;
  };

  // `first_state`: words of a state before the features' own.
  FeatureSet(const FeatureList& list, const Sentence& sentence, const Limits& limits, std::size_t first_state)
      : n_state_(first_state) {
    for (const auto& entry : list.entries())
      std::visit([&](const auto& input) { place(input, entry.column, sentence, limits); }, entry.input);
  }

  // Call visit(placed) for each feature, in the order of kinds.
  template <class Visit>
  void each(Visit&& visit) {
    std::apply([&](auto&... kinds) { (each_of(kinds, visit), ...); }, placed_);
  }
  template <class Visit>
  void each(Visit&& visit) const {
    std::apply([&](const auto&... kinds) { (each_of(kinds, visit), ...); }, placed_);
  }
  // Call visit(placed) for each batched feature.
  template <class Visit>
  void each_batched(Visit&& visit) {
    each([&](auto& placed) {
      if constexpr (std::remove_cvref_t<decltype(placed.feature)>::kBatched) visit(placed);
    });
  }

  // Call visit(placed) for each feature of the last target words.
  template <class Visit>
  void each_of_words(Visit&& visit) {
    each([&](auto& placed) {
      if constexpr (WordFeature<std::remove_cvref_t<decltype(placed.feature)>>) visit(placed);
    });
  }

  std::size_t n_state() const { return n_state_; }  // words of a state, including the shared ones
  std::size_t n_memos() const { return n_memos_; }
  const Needs& needs() const { return needs_; }
  bool has_batched() const { return has_batched_; }

 private:
  template <class F>
  using PlacedVector = std::vector<Placed<F>>;

  template <class Vector, class Visit>
  static void each_of(Vector& vector, Visit& visit) {
    for (auto& placed : vector) visit(placed);
  }

  template <class Input>
  void place(const Input& input, std::size_t column, const Sentence& sentence, const Limits& limits) {
    std::apply([&](auto&... kinds) { (place_in(kinds, input, column, sentence, limits), ...); }, placed_);
  }
  template <class F, class Input>
  void place_in(std::vector<Placed<F>>& kind, const Input& input, std::size_t column, const Sentence& sentence,
                const Limits& limits) {
    if constexpr (std::same_as<typename F::Input, Input>) {
      kind.push_back({F(input, sentence, limits), n_state_, column, n_memos_++});
      n_state_ += kind.back().feature.n_state();
      needs_ |= kind.back().feature.needs(limits);
      has_batched_ |= F::kBatched;
    }
  }

  FeatureKinds::Vectors<PlacedVector> placed_;
  std::size_t n_state_, n_memos_ = 0;
  Needs needs_;
  bool has_batched_ = false;
};

}  // namespace hyperbaton
