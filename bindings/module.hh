// Common parts of all binding files: registration by being compiled, arrays without copies, progress from Python.
//
// Nothing here may import the hyperbaton package: the stubs are generated from _core alone.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <cstdint>
#include <optional>
#include <span>
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

template <class T>
std::span<const T> view(const Array<T>& array) {
  return {array.data(), array.size()};
}

// Hand a vector to NumPy, which frees it.
template <class T>
OutArray<T> to_numpy(std::vector<T>&& values) {
  auto* kept = new std::vector<T>(std::move(values));
  nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return OutArray<T>(kept->data(), {kept->size()}, owner);
}

// Hand over a vector as rows of `width` values.
template <class T>
OutArray2<T> to_numpy(std::vector<T>&& values, std::size_t width) {
  auto* kept = new std::vector<T>(std::move(values));
  nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return OutArray2<T>(kept->data(), {kept->size() / width, width}, owner);
}

// Hand over a large array, wherever it is stored.
template <class T>
OutArray<T> to_numpy(LargeArray<T>&& values) {
  auto* kept = new LargeArray<T>(std::move(values));
  nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<LargeArray<T>*>(p); });
  return OutArray<T>(kept->data(), {kept->size()}, owner);
}

inline OutArray2<std::uint16_t> to_numpy(std::vector<Link>&& links) {
  auto* kept = new std::vector<Link>(std::move(links));
  nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<Link>*>(p); });
  return OutArray2<std::uint16_t>(reinterpret_cast<std::uint16_t*>(kept->data()), {kept->size(), 2}, owner);
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
            const nb::gil_scoped_release release;
            self.feed(bytes);
          },
          nb::arg("piece"))
      .def("finish", [](Reader& self) { self.finish(); });
}

// A Python callable(done, total) as a core callback: takes the GIL, lets Ctrl-C through, cancels on False.
Progress make_progress(const std::optional<nb::callable>& callable);

// A Python callable(number of bytes) that returns an array of bytes for large arrays; small ones are in memory.
Room make_room(const std::optional<nb::callable>& callable);

}  // namespace hyperbaton::bindings
