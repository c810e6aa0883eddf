// Put large arrays of the core in huge pages where the system has them.
//
// Random look-ups in arrays of hundreds of megabytes (weights, keys, counts) wait as long for the addresses of pages as
// for their content, since a processor caches the addresses of only a few thousand pages. Pages of 2 MiB instead of 4 KiB
// make such look-ups up to 1.6 times as fast. Linux provides them on request. These functions replace C++'s operators so
// that every vector of the core requests them; the memory comes from malloc and may be freed anywhere.
#if defined(__linux__) && !defined(__SANITIZE_ADDRESS__)

#include <sys/mman.h>

#include <cstddef>
#include <cstdlib>
#include <new>

namespace {

constexpr std::size_t kPage = std::size_t{1} << 21;
constexpr std::size_t kLarge = 2 * kPage;  // smaller blocks are not worth the alignment

void* allocate(std::size_t size) {
  if (size < kLarge) return std::malloc(size > 0 ? size : 1);
  void* const memory = std::aligned_alloc(kPage, size);
  // Systems that have no huge pages, or none left, use small ones.
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
