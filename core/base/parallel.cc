#include "base/parallel.hh"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace hyperbaton {

void Poll::check() {
  constexpr std::chrono::milliseconds interval{50};
  const auto now = std::chrono::steady_clock::now();
  if (now - last_ < interval) return;
  last_ = now;
  if (!look_()) throw Cancelled();
}

void parallel_chunks(std::size_t n_items, std::size_t chunk_size, unsigned n_threads, const Progress& progress,
                     ChunkWork work) {
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
        work(begin, end, poll);
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
  } catch (const std::exception&) {  // the system cannot start more threads
  }
  loop(true);
  for (auto& worker : workers) worker.join();
  if (failure) std::rethrow_exception(failure);
  if (progress && reported < n_items && !progress(n_items, n_items)) throw Cancelled();
}

}  // namespace hyperbaton
