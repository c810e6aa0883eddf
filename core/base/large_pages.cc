// Large arrays of the core lie in large pages of memory, where the system has them.
//
// What is looked up at random in an array of hundreds of megabytes, as weights, keys and counts are, waits for the
// addresses of pages as long as for their content: a processor remembers the addresses of a few thousand pages. Pages of 2
// MiB instead of 4 KiB make such look-ups up to 1.6 times as fast. Linux gives them to those who ask. The functions here
// take the place of C++'s own, so that every vector of the core asks; what they return is malloc's, and may be freed by
// anybody.
#if defined(__linux__) && !defined(__SANITIZE_ADDRESS__)

#include <sys/mman.h>

#include <cstddef>
#include <cstdlib>
#include <new>

namespace {

constexpr std::size_t kPage = std::size_t{1} << 21;
constexpr std::size_t kLarge = 2 * kPage;  // less is not worth its borders

void* allocate(std::size_t size) {
  if (size < kLarge) return std::malloc(size > 0 ? size : 1);
  void* const memory = std::aligned_alloc(kPage, size);
  // Where the system has no large pages, or none left, there are small ones.
  if (memory) ::madvise(memory, size / kPage * kPage, MADV_HUGEPAGE);
  return memory;
}

void* allocate_or_throw(std::size_t size) {
  while (true) {
    if (void* const memory = allocate(size)) return memory;
    const std::new_handler handler = std::get_new_handler();
    if (!handler) throw std::bad_alloc();
    handler();
  }
}

}  // namespace

void* operator new(std::size_t size) { return allocate_or_throw(size); }
void* operator new[](std::size_t size) { return allocate_or_throw(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }

#endif
