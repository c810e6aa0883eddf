// Conversion of minimisation states to and from Python.
#pragma once

#include <string>

#include "learn/minimize.hh"
#include "module.hh"

namespace hyperbaton::bindings {

namespace minimize_states {

template <class T = double>
std::vector<T> copied(const nb::dict& state, const std::string& name) {
  return bindings::copied(nb::cast<Array<T>>(state[name.c_str()]));
}

inline MinimizeState read(const nb::dict& state) {
  const auto numbers = copied(state, "numbers"), products = copied(state, "products");
  if (numbers.size() != 3) throw Error("the state belongs to a different minimisation");
  MinimizeState read{.x = copied(state, "x"),
                     .gradient = copied(state, "gradient"),
                     .value = numbers[0],
                     .goal = numbers[1],
                     .n_passes = static_cast<std::size_t>(numbers[2]),
                     .objective = copied(state, "objective"),
                     .pairs = {}};
  for (std::size_t i = 0; i < products.size(); ++i)
    read.pairs.push_back({copied<float>(state, "step." + std::to_string(i)),
                          copied<float>(state, "change." + std::to_string(i)), products[i]});
  return read;
}

// Views of the vectors, valid during a call.
inline nb::dict write(const MinimizeState& state) {
  nb::dict written;
  const auto add = [&]<class T>(const std::string& name, const std::vector<T>& values) {
    written[name.c_str()] = nb::cast(Array<T>(values.data(), {values.size()}, nb::handle()), nb::rv_policy::reference);
  };
  const auto add_copy = [&](const char* name, std::vector<double> values) { written[name] = to_numpy(std::move(values)); };
  add("x", state.x);
  add("gradient", state.gradient);
  add("objective", state.objective);
  add_copy("numbers", {state.value, state.goal, static_cast<double>(state.n_passes)});
  std::vector<double> products;
  for (std::size_t i = 0; i < state.pairs.size(); ++i) {
    add("step." + std::to_string(i), state.pairs[i].step);
    add("change." + std::to_string(i), state.pairs[i].change);
    products.push_back(state.pairs[i].product);
  }
  add_copy("products", std::move(products));
  return written;
}

}  // namespace minimize_states

// A Python object with `start()` (a state or None), `due()` and `save(state)`; None keeps no states. Must be called with
// the GIL.
inline Checkpoints make_checkpoints(const nb::object& keeper) {
  if (keeper.is_none()) return {};
  Checkpoints checkpoints{.due =
                              [keeper] {
                                const nb::gil_scoped_acquire acquire;
                                return nb::cast<bool>(keeper.attr("due")());
                              },
                          .save =
                              [keeper](const MinimizeState& state) {
                                const nb::gil_scoped_acquire acquire;
                                keeper.attr("save")(minimize_states::write(state));
                              },
                          .start = {}};
  if (const nb::object start = keeper.attr("start")(); !start.is_none())
    checkpoints.start = minimize_states::read(nb::cast<nb::dict>(start));
  return checkpoints;
}

}  // namespace hyperbaton::bindings
