// Arrays that may be larger than the memory that one wants to spend on them: whoever calls the core says where they lie.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <type_traits>

namespace hyperbaton {

// Gives so many bytes, aligned for any type and of undefined content: in a file that is mapped, say. Empty: in memory.
// Several threads may call it at once.
using Room = std::function<std::shared_ptr<std::byte[]>(std::size_t n_bytes)>;

// A fixed number of values; their content is undefined at first.
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
