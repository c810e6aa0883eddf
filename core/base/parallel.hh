// Loops over chunks of work on several threads, with progress and cancellation.
//
// A chunk is processed by one thread and writes only to its own place, so results never depend on the number of threads.
// If the system cannot start another thread, the running ones do the work. Only the calling thread reports progress,
// since it holds any lock that the callback needs.
#pragma once

#include <algorithm>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <functional>
#include <numeric>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/errors.hh"

namespace hyperbaton {

// Elements of a long vector that a thread processes at once.
inline constexpr std::size_t kVectorChunk = std::size_t{1} << 16;

// Called with (items done, total items); returns false to cancel. May be empty.
using Progress = std::function<bool(std::size_t, std::size_t)>;

// Checks inside a long item of work whether to stop, and throws Cancelled if so. Cheap enough for an inner loop.
class Poll {
 public:
  // `look` returns false to stop.
  explicit Poll(std::function<bool()> look) : look_(std::move(look)) {}
  void operator()() {
    if (++n_calls_ % kCalls == 0) check();
  }
  // Check at once, without counting calls, for loops with slow iterations.
  void check();

 private:
  static constexpr unsigned kCalls = 256;
  std::function<bool()> look_;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
  unsigned n_calls_ = 0;
};

// A reference to work(begin, end) or, if items take long, work(begin, end, poll). Must not outlive the work.
class ChunkWork {
 public:
  template <class Work>
    requires(!std::same_as<Work, ChunkWork>)
  ChunkWork(const Work& work)  // NOLINT: converts
      : work_(&work), call_([](const void* any, std::size_t begin, std::size_t end, [[maybe_unused]] Poll& poll) {
          const auto& here = *static_cast<const Work*>(any);
          if constexpr (std::invocable<const Work&, std::size_t, std::size_t, Poll&>)
            here(begin, end, poll);
          else
            here(begin, end);
        }) {}
  void operator()(std::size_t begin, std::size_t end, Poll& poll) const { call_(work_, begin, end, poll); }

 private:
  const void* work_;
  void (*call_)(const void*, std::size_t, std::size_t, Poll&);
};

// Process consecutive chunks of [0, n_items). Throws Cancelled or the first exception of a worker. The last report covers
// all items, whichever thread finishes last.
void parallel_chunks(std::size_t n_items, std::size_t chunk_size, unsigned n_threads, const Progress& progress,
                     ChunkWork work);

// Sums by parts that depend only on the data: each part adds to a separate vector and returns a loss, and the vectors are
// added up in the order of the parts. Returns the sum of the losses.
struct Parts {
  std::size_t n, n_at_once;  // a vector in memory for each part at once; none if there is one part
  unsigned n_threads;
};
double sum_parts(const Parts& parts, std::span<double> sum, const Progress& progress,
                 const std::function<double(std::size_t part, std::span<double> sum, Poll& poll)>& work);

// The numbers of the ranges between offsets, the longest first: threads that take them in this order finish at about the
// same time.
template <class Offsets>
std::vector<std::size_t> longest_first(const Offsets& offsets) {
  std::vector<std::size_t> order(offsets.size() - 1);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::ranges::greater{}, [&](std::size_t i) { return offsets[i + 1] - offsets[i]; });
  return order;
}

// Turn counts in place into starts of ranges; returns their sum.
template <class Counts>
auto exclusive_sum(Counts& counts) {
  using T = std::remove_reference_t<decltype(counts[0])>;
  T total = 0;
  for (auto& count : counts) {
    const T here = count;
    count = total;
    total += here;
  }
  return total;
}

}  // namespace hyperbaton
