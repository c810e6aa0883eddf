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

double sum_parts(const Parts& parts, std::span<double> sum, const Progress& progress,
                 const std::function<double(std::size_t, std::span<double>, Poll&)>& work) {
  std::ranges::fill(sum, 0.0);
  std::vector<double> losses(parts.n);
  std::vector<std::vector<double>> own(parts.n == 1 ? 0 : std::min(parts.n_at_once, parts.n));
  const std::size_t together = std::max<std::size_t>(own.size(), 1);
  // Parts take about the same time, so threads hardly wait for each other.
  for (std::size_t first = 0; first < parts.n; first += together) {
    const std::size_t n_here = std::min(together, parts.n - first);
    const Progress report = [&](std::size_t done, std::size_t) { return !progress || progress(first + done, parts.n); };
    parallel_chunks(n_here, 1, parts.n_threads, report, [&](std::size_t at, std::size_t, Poll& poll) {
      if (!own.empty()) own[at].assign(sum.size(), 0.0);
      losses[first + at] = work(first + at, own.empty() ? sum : std::span(own[at]), poll);
    });
    if (own.empty()) break;
    parallel_chunks(sum.size(), kVectorChunk, parts.n_threads, {}, [&](std::size_t begin, std::size_t end) {
      for (std::size_t at = 0; at < n_here; ++at)
        for (std::size_t j = begin; j < end; ++j) sum[j] += own[at][j];
    });
  }
  return std::accumulate(losses.begin(), losses.end(), 0.0);
}

}  // namespace hyperbaton
