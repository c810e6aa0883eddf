#include "next_position/preorder.hh"

#include <algorithm>
#include <limits>

#include "base/math.hh"
#include "base/slices.hh"
#include "next_position/jump_logprobs.hh"

namespace hyperbaton {

namespace {

constexpr std::size_t kTogether = 16;

// A path: its last word, and the index of its predecessor.
struct Path {
  double logprob;
  std::uint64_t key;  // of the words visited
  std::uint32_t before;
  std::uint16_t word;
};

// An extension: path `from` of the beam with another word, or with the end (n).
struct Extension {
  double logprob;
  std::uint32_t from;
  std::uint16_t word;
};

// One search; its buffers are reused.
class Search {
 public:
  Search(const PreorderOptions& options) : options_(options) {}

  // The words of the best path, in order, and its log-probability.
  double operator()(const double* scores, std::size_t n_words, std::vector<std::uint16_t>& best, Poll& poll) {
    n_words_ = n_words;
    n_bits_ = (n_words + 63) / 64;
    paths_.assign(1, {0, 0, 0, static_cast<std::uint16_t>(n_words)});
    beam_.assign(1, 0);
    visited_.assign(n_bits_, 0);
    double best_logprob = -kInfinity;
    std::uint32_t last = 0;
    for (std::size_t t = 0; !beam_.empty(); ++t) {
      poll.check();
      steps_.clear();
      for (std::uint32_t b = 0; b < beam_.size(); ++b) {
        const Path& path = paths_[beam_[b]];
        const std::size_t row = t == 0 ? 0 : path.word + std::size_t{1};
        extend(scores + row * (n_words + 1), b);
        const double end = path.logprob + row_[n_words];
        if ((t == n_words || !options_.complete) && end > best_logprob) {
          best_logprob = end;
          last = beam_[b];
        }
      }
      // Every step lowers the probability.
      std::erase_if(steps_, [&](const Extension& step) { return !(step.logprob > best_logprob); });
      prune(t);
    }
    best.clear();
    for (std::uint32_t at = last; at != 0; at = paths_[at].before) best.push_back(paths_[at].word);
    std::reverse(best.begin(), best.end());
    return best_logprob;
  }

 private:
  bool is_visited(std::uint32_t b, std::size_t word) const { return visited_[b * n_bits_ + word / 64] >> (word % 64) & 1; }

  // The extensions of a path of the beam; row_ receives its log-probabilities.
  void extend(const double* scores, std::uint32_t b) {
    row_.assign(n_words_ + 1, -kInfinity);
    double best = scores[n_words_], sum = 0;
    for (std::size_t j = 0; j < n_words_; ++j)
      if (!is_visited(b, j)) best = std::max(best, scores[j]);
    for (std::size_t j = 0; j <= n_words_; ++j)
      if (j == n_words_ || !is_visited(b, j)) sum += math::exp(scores[j] - best);
    const double normaliser = best + math::log(sum);
    for (std::size_t j = 0; j <= n_words_; ++j)
      if (j == n_words_ || !is_visited(b, j)) row_[j] = scores[j] - normaliser;
    for (std::size_t j = 0; j < n_words_; ++j)
      if (!is_visited(b, j)) steps_.push_back({paths_[beam_[b]].logprob + row_[j], b, static_cast<std::uint16_t>(j)});
  }

  // The next beam: the best extensions that differ in the set of visited words or in the last word.
  void prune(std::size_t t) {
    const auto better = [](const Extension& a, const Extension& b) {
      return a.logprob != b.logprob ? a.logprob > b.logprob : a.from != b.from ? a.from < b.from : a.word < b.word;
    };
    // Each path has at most t + 1 duplicates, one for each word that could precede its last one.
    const std::size_t n = std::min(steps_.size(), options_.beam * (t + 1));
    std::partial_sort(steps_.begin(), steps_.begin() + static_cast<std::ptrdiff_t>(n), steps_.end(), better);
    next_beam_.clear();
    next_visited_.clear();
    for (std::size_t k = 0; k < n && next_beam_.size() < options_.beam; ++k) {
      const Extension& step = steps_[k];
      const std::uint32_t before = beam_[step.from];
      const std::uint64_t key = paths_[before].key ^ mix(step.word + std::uint64_t{1});
      const auto first = visited_.begin() + static_cast<std::ptrdiff_t>(step.from * n_bits_);
      next_visited_.insert(next_visited_.end(), first, first + static_cast<std::ptrdiff_t>(n_bits_));
      auto* own = next_visited_.data() + next_beam_.size() * n_bits_;
      own[step.word / 64] |= std::uint64_t{1} << (step.word % 64);
      const auto is_same = [&](std::size_t other) {
        const Path& path = paths_[next_beam_[other]];
        return path.word == step.word && path.key == key &&
               std::equal(own, own + n_bits_, next_visited_.data() + other * n_bits_);
      };
      bool seen = false;
      for (std::size_t other = 0; other < next_beam_.size() && !seen; ++other) seen = is_same(other);
      if (seen) {
        next_visited_.resize(next_visited_.size() - n_bits_);
        continue;
      }
      next_beam_.push_back(static_cast<std::uint32_t>(paths_.size()));
      paths_.push_back({step.logprob, key, before, step.word});
    }
    beam_.swap(next_beam_);
    visited_.swap(next_visited_);
  }

  static std::uint64_t mix(std::uint64_t x) { return x * 0x9e3779b97f4a7c15u ^ (x * 0xbf58476d1ce4e5b9u) >> 29; }

  PreorderOptions options_;
  std::size_t n_words_ = 0, n_bits_ = 0;
  std::vector<Path> paths_;                            // the first is empty
  std::vector<std::uint32_t> beam_, next_beam_;        // places of paths
  std::vector<std::uint64_t> visited_, next_visited_;  // bits of each path of the beam
  std::vector<Extension> steps_;
  std::vector<double> row_;
};

}  // namespace

void attach_unvisited(std::span<const std::uint16_t> visited, std::span<std::uint16_t> order) {
  std::vector<bool> is_visited(order.size());
  for (const auto word : visited) {
    if (word >= order.size() || is_visited[word])
      throw Error("an order must list words of the sentence, each at most once");
    is_visited[word] = true;
  }
  std::size_t place = 0;
  const auto put_unvisited = [&](std::size_t word) {
    for (; word < order.size() && !is_visited[word]; ++word) order[place++] = static_cast<std::uint16_t>(word);
  };
  put_unvisited(0);
  for (const auto word : visited) {
    order[place++] = word;
    put_unvisited(word + std::size_t{1});
  }
}

void preorder(std::span<const double> scores, std::span<const std::int64_t> offsets, const PreorderOptions& options,
              std::span<std::uint16_t> orders, std::span<double> logprobs, const Progress& progress) {
  const auto starts = jump_starts(offsets);
  if (scores.size() != to_size(starts.back()) || logprobs.size() + 1 != offsets.size() ||
      orders.size() != to_size(offsets.back()))
    throw Error("the scores do not match the text");
  if (options.beam == 0) throw Error("the beam must be at least 1");
  parallel_chunks(logprobs.size(), kTogether, options.n_threads, progress,
                  [&](std::size_t begin, std::size_t end, Poll& poll) {
                    Search search(options);
                    std::vector<std::uint16_t> best;
                    for (std::size_t s = begin; s < end; ++s) {
                      const auto order = valid_slice(orders, offsets, s);
                      logprobs[s] = search(scores.data() + starts[s], order.size(), best, poll);
                      attach_unvisited(best, order);
                    }
                  });
}

}  // namespace hyperbaton
