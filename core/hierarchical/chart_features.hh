// The kinds of features of derivations, and the features of sentences that are translated together.
//
// Features are scored kind by kind, in the order of this list; within a kind, in the order given. Their columns are in the
// same order.
#pragma once

#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "hierarchical/chart_jumps.hh"
#include "hierarchical/chart_orientation.hh"

namespace hyperbaton {

template <ChartFeature... Kinds>
struct ChartKindList {
  template <template <class> class Container>
  using Each = std::tuple<Container<Kinds>...>;
  template <class Input>
  static constexpr bool has = (std::same_as<typename Kinds::Input, Input> || ...);
};
using ChartKinds = ChartKindList<ChartJumps, ChartOrientation>;

class ChartFeatureList {
 public:
  template <class Input>
  void add(std::string name, const Input& input, std::span<const std::int64_t> source_offsets) {
    each([&]<class F>(OfKind<F>& kind) {
      if constexpr (std::same_as<typename F::Input, Input>) {
        F::check(name, input, kind.inputs.empty() ? input : kind.inputs.front(), source_offsets);
        kind.names.insert(kind.names.end(), input.n_values(), name);
        kind.inputs.push_back(input);
      }
    });
  }
  // The name of each column.
  std::vector<std::string> column_names() const {
    std::vector<std::string> names;
    each([&](const auto& kind) { names.insert(names.end(), kind.names.begin(), kind.names.end()); });
    return names;
  }
  std::size_t n_values() const {
    std::size_t n = 0;
    each([&](const auto& kind) { n += kind.names.size(); });
    return n;
  }

 private:
  friend class ChartFeatureSet;
  template <class F>
  struct OfKind {
    std::vector<typename F::Input> inputs;
    std::vector<std::string> names;  // of columns
  };
  template <class Visit>
  void each(Visit&& visit) {
    std::apply([&](auto&... kinds) { (visit(kinds), ...); }, kinds_);
  }
  template <class Visit>
  void each(Visit&& visit) const {
    std::apply([&](const auto&... kinds) { (visit(kinds), ...); }, kinds_);
  }

  ChartKinds::Each<OfKind> kinds_;
};

// The features of one sentence, in its search.
class ChartFeatureSet {
 public:
  // A kind with its first word in a state and its first column of values.
  template <class F>
  struct Placed {
    F feature;
    std::size_t state, column;
  };

  // `state` and `column` are the first ones of all features.
  ChartFeatureSet(const ChartFeatureList& list, std::size_t sentence, int n_words, std::size_t state, std::size_t column)
      : end_(state) {
    list.each([&]<class F>(const ChartFeatureList::OfKind<F>& kind) {
      if (kind.inputs.empty()) return;
      auto& placed = std::get<std::optional<Placed<F>>>(placed_);
      placed.emplace(F(kind.inputs, sentence, n_words), end_, column);
      end_ += placed->feature.n_state();
      column += kind.names.size();
      any_ = true;
    });
  }
  // Call visit(placed) for each kind.
  template <class Visit>
  void each(Visit&& visit) {
    const auto present = [&](auto& placed) {
      if (placed) visit(*placed);
    };
    std::apply([&](auto&... placed) { (present(placed), ...); }, placed_);
  }
  bool any() const { return any_; }
  std::size_t end() const { return end_; }  // of their words in a state

 private:
  template <class F>
  using MaybePlaced = std::optional<Placed<F>>;

  ChartKinds::Each<MaybePlaced> placed_;
  std::size_t end_;
  bool any_ = false;
};

}  // namespace hyperbaton
