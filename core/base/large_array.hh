// Arrays that may exceed the memory budget: the caller of the core decides where they are stored.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <type_traits>

namespace hyperbaton {

// Allocate the given number of bytes, aligned for any type and uninitialised, for example in a memory-mapped file. Empty:
// allocate in memory. Must be thread-safe.
using Room = std::function<std::shared_ptr<std::byte[]>(std::size_t n_bytes)>;

// A fixed number of values, initially undefined.
template <class T>
class LargeArray {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  LargeArray() = default;
  LargeArray(std::size_t size, const Room& room) : size_(size) {
    if (size == 0) return;
    const std::size_t n_bytes = size * sizeof(T);
    bytes_ = room ? room(n_bytes) : std::shared_ptr<std::byte[]>(new std::byte[n_bytes]);
  }

  std::size_t size() const { return size_; }
  T* data() { return reinterpret_cast<T*>(bytes_.get()); }
  const T* data() const { return reinterpret_cast<const T*>(bytes_.get()); }
  T* begin() { return data(); }
  T* end() { return data() + size_; }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size_; }
  T& operator[](std::size_t i) { return data()[i]; }
  const T& operator[](std::size_t i) const { return data()[i]; }

 private:
  std::shared_ptr<std::byte[]> bytes_;
  std::size_t size_ = 0;
};

}  // namespace hyperbaton
