// Common parts of all binding files: registration by being compiled, arrays without copies, progress from Python.
//
// Nothing here may import the hyperbaton package: the stubs are generated from _core alone.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "align/links.hh"
#include "base/large_array.hh"
#include "base/parallel.hh"

namespace nb = nanobind;

namespace hyperbaton::bindings {

using RegisterFunction = void (*)(nb::module_&);
struct Registration {
  Registration(const char* name, RegisterFunction function);
};

// HYPERBATON_BINDINGS(links) { m.def(…); } puts a file's functions into the module, with no list to edit.
#define HYPERBATON_BINDINGS(name)                                                                 \
  static void register_##name(nb::module_& m);                                                    \
  static const ::hyperbaton::bindings::Registration registration_##name{#name, &register_##name}; \
  static void register_##name(nb::module_& m)

template <class T>
using Array = nb::ndarray<const T, nb::numpy, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Array2 = nb::ndarray<const T, nb::numpy, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T>
using OutArray = nb::ndarray<T, nb::numpy, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using OutArray2 = nb::ndarray<T, nb::numpy, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

using Bytes = Array<std::uint8_t>;
using Shorts = Array<std::uint16_t>;
using Words = Array<std::uint32_t>;
using Keys = Array<std::uint64_t>;
using Ints = Array<std::int64_t>;
using Floats = Array<float>;

// All values of an array, row after row.
template <class T, class... Form>
std::span<T> view(const nb::ndarray<T, Form...>& array) {
  return {array.data(), array.size()};
}
template <class T, class... Form>
std::vector<std::remove_const_t<T>> copied(const nb::ndarray<T, Form...>& array) {
  return {array.data(), array.data() + array.size()};
}

// Hand values to NumPy, which frees them, as an array of this shape.
template <class Out, class Values>
Out hand_over(Values& values, std::initializer_list<std::size_t> shape) {
  auto* kept = new Values(std::move(values));
  nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<Values*>(p); });
  return Out(reinterpret_cast<typename Out::Scalar*>(kept->data()), shape, owner);
}
template <class T>
OutArray<T> to_numpy(std::vector<T>&& values) {
  return hand_over<OutArray<T>>(values, {values.size()});
}
// Rows of `width` values.
template <class T>
OutArray2<T> to_numpy(std::vector<T>&& values, std::size_t width) {
  return hand_over<OutArray2<T>>(values, {values.size() / width, width});
}
// A large array, wherever it is stored.
template <class T>
OutArray<T> to_numpy(LargeArray<T>&& values) {
  return hand_over<OutArray<T>>(values, {values.size()});
}
// Structs of numbers as rows of an array.
template <class Number, class Struct>
OutArray2<Number> rows_to_numpy(std::vector<Struct>&& rows) {
  static_assert(sizeof(Struct) % sizeof(Number) == 0);
  return hand_over<OutArray2<Number>>(rows, {rows.size(), sizeof(Struct) / sizeof(Number)});
}
inline OutArray2<std::uint16_t> to_numpy(std::vector<Link>&& links) {
  return rows_to_numpy<std::uint16_t>(std::move(links));
}

// A tuple of columns as arrays.
template <class... Columns>
nb::tuple arrays(Columns&&... columns) {
  return nb::make_tuple(to_numpy(std::move(columns))...);
}

inline nb::bytes to_bytes(std::string_view text) { return nb::bytes(text.data(), text.size()); }

// Work during which other threads of Python may run.
template <class Work>
auto without_gil(const Work& work) {
  const nb::gil_scoped_release release;
  return work();
}

inline std::span<const Link> view_links(const Array2<std::uint16_t>& points) {
  if (points.shape(1) != 2) throw Error("links need the shape (n, 2)");
  return {reinterpret_cast<const Link*>(points.data()), points.shape(0)};
}

inline LinksView view_links(const Array2<std::uint16_t>& points, const Array<std::int64_t>& offsets) {
  const LinksView links{view_links(points), view(offsets)};
  if (links.offsets.empty() || links.offsets.back() != static_cast<std::int64_t>(links.points.size()))
    throw Error("link offsets do not match the points");
  return links;
}

// A reader of the core accepts bytes in pieces of any size and is notified when the input ends.
template <class Reader>
nb::class_<Reader>& def_feed(nb::class_<Reader>& reader) {
  return reader
      .def(
          "feed",
          [](Reader& self, const nb::bytes& piece) {
            const std::string_view bytes(piece.c_str(), piece.size());
            without_gil([&] { self.feed(bytes); });
          },
          nb::arg("piece"))
      .def("finish", [](Reader& self) { self.finish(); });
}

// A Python callable(done, total) as a core callback: takes the GIL, lets Ctrl-C through, cancels on False. Functions with
// an argument of the type Progress receive it so; without a callable it lets Ctrl-C through.
Progress make_progress(const std::optional<nb::callable>& callable = {});

// A Python callable(number of bytes) that returns an array of bytes for large arrays; small ones are in memory.
Room make_room(const std::optional<nb::callable>& callable);

}  // namespace hyperbaton::bindings

template <>
struct nanobind::detail::type_caster<hyperbaton::Progress> {
  NB_TYPE_CASTER(hyperbaton::Progress, const_name("collections.abc.Callable"))
  bool from_python(handle source, std::uint32_t, cleanup_list*) noexcept {
    if (!source.is_none() && !isinstance<callable>(source)) return false;
    value = hyperbaton::bindings::make_progress(source.is_none() ? std::nullopt : std::optional(borrow<callable>(source)));
    return true;
  }
};
