// For the benchmark `cubic` alone: GO13 eq. 2 and its gradient as printed, O(n³) dot products for each sentence, beside
// the running sums of core/next_position/jump_scores.hh. Both see the same random features.
#include <chrono>

#include "base/hash.hh"
#include "next_position/jump_scores.hh"

namespace {

using namespace hyperbaton;

constexpr std::size_t kPlanes = 3;

struct Problem {
  std::size_t n_words;
  std::vector<std::uint8_t> counts;
  std::vector<std::uint32_t> ids, starts;  // starts: of each list
  std::vector<int> next;
  std::vector<double> weights;

  Problem(std::size_t n, std::size_t n_features, std::uint64_t seed) : n_words(n) {
    std::uint64_t state = seed;
    const auto draw = [&] { return state = mix(state + 0x9e3779b97f4a7c15ULL); };
    for (std::size_t list = 0; list < n_lists(n); ++list) {
      starts.push_back(static_cast<std::uint32_t>(ids.size()));
      const bool unary = list < 4 * (n + 1);
      const std::size_t cell = list - 4 * (n + 1), i = unary ? 0 : cell / (n + 1), j = unary ? 1 : cell % (n + 1) + 1;
      // As many features as real lists have; small numbers are more frequent, as in a real feature space.
      const std::size_t count = i == j ? 0 : unary ? 5 : 9;
      counts.push_back(static_cast<std::uint8_t>(count));
      for (std::size_t k = 0; k < count; ++k) {
        const double uniform = static_cast<double>(draw() >> 11) * 0x1p-53;
        ids.push_back(static_cast<std::uint32_t>(
            kJumpConstants + static_cast<std::size_t>(std::pow(static_cast<double>(n_features), uniform)) - 1));
      }
    }
    starts.push_back(static_cast<std::uint32_t>(ids.size()));
    next.assign(n + 1, 0);
    for (std::size_t i = 0; i <= n; ++i)
      next[i] = static_cast<int>(i == n ? n + 1 : (i % 3 == 1 && i + 2 <= n) ? i + 2 : i + 1);
    weights.resize(kPlanes * (kJumpConstants + n_features));
    for (double& w : weights) w = (static_cast<double>(draw() >> 11) * 0x1p-53 - 0.5) / 10;
  }

  // Call use(feature) for each feature of (i, j).
  template <class Use>
  void for_each(int i, int j, const Use& use) const {
    const std::size_t o = goes_back(i, j), side = n_words + 1;
    use(o);
    use(distance_constant(o, distance_class(i, j)));
    for (const std::size_t list : {2 * static_cast<std::size_t>(i) + o, 2 * (side + static_cast<std::size_t>(j) - 1) + o,
                                   4 * side + static_cast<std::size_t>(i) * side + static_cast<std::size_t>(j) - 1})
      for (std::size_t at = starts[list]; at < starts[list + 1]; ++at) use(std::size_t{ids[at]});
  }

  double dot(int i, int j, std::size_t plane) const {
    double sum = 0;
    for_each(i, j, [&](std::size_t f) { sum += weights[kPlanes * f + plane]; });
    return sum;
  }

  // Call use(i', j', plane) for each term of eq. 2.
  template <class Use>
  static void terms(int i, int j, const Use& use) {
    const int step = i < j ? 1 : -1;
    for (int k = i + step; k != j; k += step) use(i, k, 0);
    use(i, j, 1);
    for (int k = i + step; k != j; k += step) use(k, j, 2);
    use(i, j, 1);
  }

  double literal(std::vector<double>& gradient) const {
    const int n = static_cast<int>(n_words);
    double total = 0;
    std::vector<double> scores(n_words + 2);
    for (int i = 0; i <= n; ++i) {
      double sum = 0;
      for (int j = 1; j <= n + 1; ++j) {
        double& score = scores[static_cast<std::size_t>(j)];
        score = 0;
        if (i == j) continue;
        terms(i, j, [&](int a, int b, std::size_t plane) { score += dot(a, b, plane); });
        sum += std::exp(score);
      }
      const int true_next = next[static_cast<std::size_t>(i)];
      total += std::log(sum) - scores[static_cast<std::size_t>(true_next)];
      for (int j = 1; j <= n + 1; ++j) {
        if (i == j) continue;
        const double slope = std::exp(scores[static_cast<std::size_t>(j)]) / sum - (j == true_next);
        terms(i, j, [&](int a, int b, std::size_t plane) {
          for_each(a, b, [&](std::size_t f) { gradient[kPlanes * f + plane] += slope; });
        });
      }
    }
    return total;
  }

  double running(std::vector<double>& gradient, JumpScores<kPlanes>& scores) const {
    const SentenceLists lists{n_words, counts.data(), ids.data(), ids.size()};
    scores.score(lists, weights.data(), next);
    const double total = scores.loss(next);
    scores.add_gradient(lists, gradient, next);
    return total;
  }
};

}  // namespace

// Seconds for objective and gradient of one sentence in both forms, the two objectives, and the largest difference of
// gradients.
extern "C" void compare(std::size_t n_words, std::size_t n_features, std::size_t repeats, double* out) {
  const Problem problem(n_words, n_features, n_words);
  std::vector<double> first(problem.weights.size()), second(problem.weights.size());
  JumpScores<kPlanes> scores;
  out[2] = problem.running(first, scores);
  out[3] = problem.literal(second);
  out[4] = 0;
  for (std::size_t p = 0; p < first.size(); ++p) out[4] = std::max(out[4], std::abs(first[p] - second[p]));
  const auto time = [&](std::size_t n, const auto& work) {
    const auto start = std::chrono::steady_clock::now();
    for (std::size_t r = 0; r < n; ++r) work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / static_cast<double>(n);
  };
  out[0] = time(repeats, [&] { problem.running(first, scores); });
  out[1] = time(std::max<std::size_t>(repeats / 10, 1), [&] { problem.literal(second); });
}
