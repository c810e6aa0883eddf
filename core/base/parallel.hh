// Loops over chunks of work on several threads, with progress and cancellation.
//
// A chunk is worked on by one thread and writes only to its own place, so results never depend on the
// number of threads. Where the system has no room for another thread, those that there are do the work. Progress is
// reported by the calling thread alone, which holds whatever lock the callback needs.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <type_traits>
#include <vector>

#include "base/errors.hh"

namespace hyperbaton {

// Elements of a long vector that a thread takes at once.
inline constexpr std::size_t kVectorChunk = std::size_t{1} << 16;

// Called with (items done, items in all); returns false to cancel. May be empty.
using Progress = std::function<bool(std::size_t, std::size_t)>;

// Asks inside a long item of work whether to stop, and throws Cancelled if so. Cheap enough for an inner loop.
class Poll {
 public:
  // `look` returns false to stop.
  explicit Poll(std::function<bool()> look) : look_(std::move(look)) {}
  void operator()() {
    if (++n_calls_ % kCalls == 0) check();
  }
  // The same without counting calls first, for loops whose turns take long.
  void check() {
    const auto now = std::chrono::steady_clock::now();
    if (now - last_ < kInterval) return;
    last_ = now;
    if (!look_()) throw Cancelled();
  }

 private:
  static constexpr unsigned kCalls = 256;
  static constexpr std::chrono::milliseconds kInterval{50};
  std::function<bool()> look_;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
  unsigned n_calls_ = 0;
};

// Call work(begin, end) or, where items take long, work(begin, end, poll) for consecutive chunks of [0, n_items). Throws
// Cancelled, or what a worker threw first. The last report is of all items, whichever thread was the last.
template <class Work>
void parallel_chunks(std::size_t n_items, std::size_t chunk_size, unsigned n_threads, const Progress& progress,
                     const Work& work) {
  if (n_items == 0) return;
  chunk_size = std::max<std::size_t>(chunk_size, 1);
  const std::size_t n_chunks = (n_items + chunk_size - 1) / chunk_size;
  std::atomic<std::size_t> next{0}, done{0};
  std::size_t reported = 0;  // by the calling thread
  std::atomic<bool> stop{false};
  std::exception_ptr failure;
  std::mutex failure_mutex;
  const auto loop = [&](bool reports) {
    const auto proceed = [&] { return !reports || !progress || progress(reported = done.load(), n_items); };
    Poll poll([&] { return !stop.load(std::memory_order_relaxed) && proceed(); });
    try {
      while (!stop.load(std::memory_order_relaxed)) {
        const std::size_t chunk = next.fetch_add(1);
        if (chunk >= n_chunks) break;
        const std::size_t begin = chunk * chunk_size, end = std::min(begin + chunk_size, n_items);
        if constexpr (std::invocable<const Work&, std::size_t, std::size_t, Poll&>)
          work(begin, end, poll);
        else
          work(begin, end);
        done += end - begin;
        if (!proceed()) throw Cancelled();
      }
    } catch (...) {
      const std::lock_guard lock(failure_mutex);
      if (!failure) failure = std::current_exception();
      stop = true;
    }
  };
  std::vector<std::thread> workers;
  const std::size_t n_workers = std::min<std::size_t>(std::max(n_threads, 1u), n_chunks);
  try {
    workers.reserve(n_workers);
    for (std::size_t i = 1; i < n_workers; ++i) workers.emplace_back(loop, false);
  } catch (const std::exception&) {  // no room for more threads
  }
  loop(true);
  for (auto& worker : workers) worker.join();
  if (failure) std::rethrow_exception(failure);
  if (progress && reported < n_items && !progress(n_items, n_items)) throw Cancelled();
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
