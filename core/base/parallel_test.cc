#include "base/parallel.hh"

#include <atomic>
#include <thread>
#include <vector>

#if defined(__linux__)
#include <sys/resource.h>

#include <fstream>
#endif

#include "testing/testing.hh"

using namespace hyperbaton;

TEST("chunks cover all items once, whatever the number of threads") {
  for (const unsigned n_threads : {1U, 2U, 5U}) {
    std::vector<int> visits(103, 0);
    std::size_t last_done = 0;
    const auto progress = [&](std::size_t done, std::size_t total) {
      CHECK(done >= last_done);
      CHECK(total == visits.size());
      last_done = done;
      return true;
    };
    parallel_chunks(visits.size(), 10, n_threads, progress, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) ++visits[i];
    });
    CHECK(visits == std::vector<int>(visits.size(), 1));
  }
}

TEST("the last report covers all items when another thread finishes last") {
  std::atomic<bool> waits = true;
  std::size_t last_done = 0;
  const auto calling_thread = std::this_thread::get_id();
  const auto progress = [&](std::size_t done, std::size_t) {
    last_done = done;
    if (done > 0) waits = false;
    return true;
  };
  parallel_chunks(2, 1, 2, progress, [&](std::size_t, std::size_t) {
    while (std::this_thread::get_id() != calling_thread && waits) std::this_thread::yield();
  });
  CHECK(last_done == 2);
}

TEST("exceptions of a worker reach the caller, and progress can cancel") {
  const auto failing = [](std::size_t begin, std::size_t) {
    if (begin == 40) throw Error("item 40");
  };
  CHECK_THROWS(parallel_chunks(100, 1, 3, {}, failing), "item 40");
  std::atomic<int> n_done = 0;
  bool cancelled = false;
  try {
    parallel_chunks(
        1000, 1, 2, [](std::size_t done, std::size_t) { return done < 10; }, [&](std::size_t, std::size_t) { ++n_done; });
  } catch (const Cancelled&) {
    cancelled = true;
  }
  CHECK(cancelled);
  CHECK(n_done.load() <= 1000);
}

TEST("counts become starts of ranges") {
  std::vector<int> counts{3, 0, 2};
  CHECK(exclusive_sum(counts) == 5);
  CHECK(counts == std::vector<int>({0, 3, 3}));
}

TEST("longest ranges come first, equal ones in order") {
  CHECK(longest_first(std::vector<int>{0, 2, 2, 7, 9}) == std::vector<std::size_t>({2, 0, 3, 1}));
  CHECK(longest_first(std::vector<int>{0}).empty());
}

#if defined(__linux__) && !defined(__SANITIZE_ADDRESS__)

TEST("if no more threads can be started, the running ones do the work") {
  std::size_t n_pages = 0;
  std::ifstream("/proc/self/statm") >> n_pages;
  rlimit before{};
  CHECK(getrlimit(RLIMIT_AS, &before) == 0);
  rlimit limit = before;
  limit.rlim_cur = n_pages * 4096 + (std::size_t{64} << 20);  // the stacks of a few threads
  CHECK(setrlimit(RLIMIT_AS, &limit) == 0);
  std::vector<int> visits(300, 0);
  std::atomic<bool> all_started = false;
  const auto calling_thread = std::this_thread::get_id();
  parallel_chunks(visits.size(), 1, 300, {}, [&](std::size_t begin, std::size_t) {
    if (std::this_thread::get_id() == calling_thread) all_started = true;
    while (!all_started) std::this_thread::yield();
    ++visits[begin];
  });
  CHECK(setrlimit(RLIMIT_AS, &before) == 0);
  CHECK(visits == std::vector<int>(visits.size(), 1));
}

#endif
