// Scores of all jumps of one sentence, and their derivatives: GO13 eq. 1 (PAIR) and eq. 2 (SEQUENCE).
//
// Rows are CP i = 0 … n, columns NP j = 1 … n + 1 (column j - 1); a row is a distribution over j ≠ i. With Planes = 1
// (PAIR) the score is w·f(i, j). With Planes = 3 (SEQUENCE) each feature has three weights, one for each label pair, giving
//
//   A(i, k) = w·f(i, k; C, I)     B(i, j) = w·f(i, j; C, N)     C(k, j) = w·f(k, j; I, N)
//   score(i, j) = 2 B(i, j) + Σ_k A(i, k) + Σ_k C(k, j)     over k strictly between i and j
//
// Both sums run along a row or a column, away from the CP or the NP, so running sums give all scores in O(n²), and
// running sums of derivatives in the opposite direction give the gradient.
//
// A model over the remaining words normalises the row of a CP over the words not yet visited at that time, and EOS. A CP
// occurs once in a visit order, so this is O(n²), too. A weight for the class of a candidate (phrases/remaining.hh) may
// be added to its score.
#pragma once

#include <algorithm>
#include <array>
#include <limits>
#include <span>
#include <type_traits>
#include <vector>

#include "base/math.hh"
#include "base/size.hh"
#include "features/jumps.hh"
#include "phrases/remaining.hh"

namespace hyperbaton {

// Features of one sentence, in the layout of JumpLists.
struct SentenceLists {
  std::size_t n_words;
  const std::uint8_t* counts;
  const std::uint32_t* ids;
  std::size_t n_ids;
};

// The candidates over which the row of a CP is normalised in training.
struct Candidates {
  bool remaining;           // words that are not visited and EOS, or all positions but the CP
  std::size_t first_class;  // the number of the first class of candidates among the features; 0: they have no weights
};

// The weights of all features, or their derivatives, in one array: calling it with a feature gives its Planes values.
template <std::size_t Planes, class Value>
struct ValuesOfFeatures {
  Value* values;
  Value* operator()(std::size_t feature) const { return values + Planes * feature; }
};

template <std::size_t Planes>
class JumpScores {
  static_assert(Planes == 1 || Planes == 3);
  using Cell = std::array<double, Planes>;

 public:
  using Weights = ValuesOfFeatures<Planes, const double>;
  using Gradient = ValuesOfFeatures<Planes, double>;

  explicit JumpScores(const Candidates& candidates) : of_(candidates) {}

  // Score all jumps; weights(f) gives the Planes weights of feature f. For PAIR, rows without an NP are left out if
  // `next` (as VisitsView gives it) is not empty.
  template <class WeightsOf>
  void score(const SentenceLists& lists, const WeightsOf& weights, std::span<const int> next) {
    set_size(lists);
    const std::uint8_t* count = lists.counts;
    const std::uint32_t *id = lists.ids, *const end = lists.ids + lists.n_ids;
    const auto add = [&](Cell& sum) {
      for (const std::uint32_t* const stop = id + *count++; id != stop; ++id) {
        if (id + kAhead < end) __builtin_prefetch(weights(id[kAhead]));
        const auto* const own = weights(*id);
        for (std::size_t p = 0; p < Planes; ++p) sum[p] += own[p];
      }
    };
    for (Cell& cell : sides_) {
      cell = {};
      add(cell);
    }
    std::array<std::array<Cell, kLengthClasses>, 2> constants{};
    for (std::size_t o = 0; o < 2; ++o)
      for (std::size_t d = 0; d < kLengthClasses; ++d)
        for (std::size_t p = 0; p < Planes; ++p)
          constants[o][d][p] = static_cast<double>(weights(o)[p]) + weights(length_constant(o, d))[p];
    for (int i = 0; i <= n_; ++i) {
      if (skipped(i, next)) {
        for (int j = 1; j <= n_ + 1; ++j) id += *count++;
        continue;
      }
      for (int j = 1; j <= n_ + 1; ++j) {
        Cell& cell = cells_[at(i, j)];
        if (i == j) {
          ++count;
          continue;
        }
        const std::size_t o = goes_back(i, j);
        const Cell &left = sides_[left_at(i, o)], &right = sides_[right_at(j, o)];
        cell = constants[o][length_class(i, j)];
        for (std::size_t p = 0; p < Planes; ++p) cell[p] += left[p] + right[p];
        add(cell);
      }
    }
    run_forward();
  }

  // log P(j | i) of every jump, row by row; −∞ where j = i.
  void write_logprobs(double* out) const {
    for (int i = 0; i <= n_; ++i) {
      const double log_sum = log_normaliser(i);
      for (int j = 1; j <= n_ + 1; ++j)
        *out++ = i == j ? -std::numeric_limits<double>::infinity() : scores_[at(i, j)] - log_sum;
    }
  }

  // −Σ log P(next | i) over the visited CPs; keeps its derivatives by the scores for add_gradient.
  template <class WeightsOf>
  double loss(std::span<const int> next, const WeightsOf& weights) {
    double total = 0;
    std::fill(derivatives_.begin(), derivatives_.end(), 0.0);
    class_derivatives_.fill(0);
    set_visits(next);
    for (int i = 0; i <= n_; ++i) {
      const int true_next = next[to_size(i)];
      if (true_next == 0) continue;
      find_candidates(i);
      double top = -std::numeric_limits<double>::infinity(), sum = 0;
      for (Candidate& each : candidates_) {
        each.score = scores_[at(i, each.j)];
        if (of_.first_class != 0) each.score += weights(of_.first_class + each.c)[kClassPlane];
        top = std::max(top, each.score);
      }
      for (const Candidate& each : candidates_) sum += math::exp(each.score - top);
      const double log_sum = top + math::log(sum);
      for (const Candidate& each : candidates_) {
        double derivative = math::exp(each.score - log_sum);
        if (each.j == true_next) {
          total += log_sum - each.score;
          derivative -= 1;
        }
        derivatives_[at(i, each.j)] = derivative;
        class_derivatives_[each.c] += derivative;
      }
    }
    run_back();
    return total;
  }

  // Compute, instead of derivatives, the curvature of the loss along each weight on its own if all jumps are equally
  // likely.
  void flat_curvature(const SentenceLists& lists, std::span<const int> next) {
    set_size(lists);
    std::fill(derivatives_.begin(), derivatives_.end(), 0.0);
    class_derivatives_.fill(0);
    set_visits(next);
    for (int i = 0; i <= n_; ++i) {
      if (next[to_size(i)] == 0) continue;
      find_candidates(i);
      const double flat = 1.0 / (of_.remaining ? static_cast<double>(candidates_.size()) : std::max(1, n_));
      for (const Candidate& each : candidates_) {
        derivatives_[at(i, each.j)] = flat * (1 - flat);
        class_derivatives_[each.c] += flat * (1 - flat);
      }
    }
    run_back();
    if constexpr (Planes == 3)
      for (Cell& cell : cells_) cell[1] *= 2;
  }

  // gradient += ∂loss, or the result of flat_curvature; gradient(f) gives the Planes derivatives of feature f.
  template <class GradientOf>
  void add_gradient(const SentenceLists& lists, const GradientOf& gradient, std::span<const int> next) {
    using Value = std::remove_pointer_t<decltype(gradient(0))>;
    const auto add_to = [&](std::size_t feature, const Cell& cell) {
      Value* const own = gradient(feature);
      for (std::size_t p = 0; p < Planes; ++p) own[p] += static_cast<Value>(cell[p]);
    };
    std::fill(sides_.begin(), sides_.end(), Cell{});
    for (int i = 0; i <= n_; ++i) {
      if (skipped(i, next)) continue;
      for (int j = 1; j <= n_ + 1; ++j) {
        if (i == j) continue;
        const std::size_t o = goes_back(i, j);
        const Cell& cell = cells_[at(i, j)];
        for (std::size_t p = 0; p < Planes; ++p) {
          sides_[left_at(i, o)][p] += cell[p];
          sides_[right_at(j, o)][p] += cell[p];
        }
        add_to(o, cell);
        add_to(length_constant(o, length_class(i, j)), cell);
      }
    }
    const std::uint8_t* count = lists.counts;
    const std::uint32_t *id = lists.ids, *const end = lists.ids + lists.n_ids;
    const auto add = [&](const Cell& cell) {
      for (const std::uint32_t* const stop = id + *count++; id != stop; ++id) {
        if (id + kAhead < end) __builtin_prefetch(gradient(id[kAhead]), 1);
        add_to(*id, cell);
      }
    };
    for (const Cell& cell : sides_) add(cell);
    for (int i = 0; i <= n_; ++i)
      for (int j = 1; j <= n_ + 1; ++j) {
        if (skipped(i, next))
          id += *count++;
        else
          add(cells_[at(i, j)]);
      }
    if (of_.first_class != 0)
      for (std::size_t c = 0; c < kCandidateClasses; ++c)
        gradient(of_.first_class + c)[kClassPlane] += static_cast<Value>(class_derivatives_[c]);
  }

 private:
  static constexpr std::size_t kAhead = 24;
  // The plane of the weights of classes of candidates: SEQUENCE has them for the label pair ⟨C, N⟩.
  static constexpr std::size_t kClassPlane = Planes == 1 ? 0 : 1;

  void set_size(const SentenceLists& lists) {
    n_ = static_cast<int>(lists.n_words);
    const std::size_t side = lists.n_words + 1;
    sides_.resize(4 * side);
    cells_.resize(side * side);
    scores_.resize(side * side);
    derivatives_.resize(side * side);
    running_.resize(side);
  }

  std::size_t at(int i, int j) const { return to_size(i * (n_ + 1) + j - 1); }
  std::size_t left_at(int i, std::size_t o) const { return 2 * to_size(i) + o; }
  std::size_t right_at(int j, std::size_t o) const { return 2 * to_size(n_ + j) + o; }
  static bool skipped(int i, std::span<const int> next) { return Planes == 1 && !next.empty() && next[to_size(i)] == 0; }

  double log_normaliser(int i) const {
    double top = -std::numeric_limits<double>::infinity(), sum = 0;
    for (int j = 1; j <= n_ + 1; ++j)
      if (i != j) top = std::max(top, scores_[at(i, j)]);
    for (int j = 1; j <= n_ + 1; ++j)
      if (i != j) sum += math::exp(scores_[at(i, j)] - top);
    return top + math::log(sum);
  }

  struct Candidate {
    int j;
    std::size_t c;  // its class; 0 if classes have no weights
    double score;
  };

  // When each position is visited.
  void set_visits(std::span<const int> next) {
    if (!of_.remaining) return;
    when_.assign(to_size(n_) + 2, std::numeric_limits<int>::max());
    int time = 0;
    for (int i = 0; i <= n_; i = next[to_size(i)]) when_[to_size(i)] = time++;
  }

  // The candidates of the NP of a visited CP.
  void find_candidates(int i) {
    candidates_.clear();
    if (!of_.remaining) {
      for (int j = 1; j <= n_ + 1; ++j)
        if (i != j) candidates_.push_back({j, 0, 0});
      return;
    }
    visited_.assign(Coverage::n_words(n_), 0);
    const int now = when_[to_size(i)];
    for (int word = 0; word < n_; ++word)
      if (when_[to_size(word) + 1] <= now) Coverage::set(visited_.data(), {word, word + 1});
    const Remaining remaining(Coverage(visited_.data(), n_), n_, i - 1);
    remaining.each([&](int candidate) {
      candidates_.push_back({candidate + 1, of_.first_class == 0 ? 0 : remaining.class_of(candidate), 0});
    });
  }

  double& running(int j) { return running_[to_size(j - 1)]; }

  // From cells to scores.
  void run_forward() {
    if constexpr (Planes == 1) {
      for (std::size_t c = 0; c < cells_.size(); ++c) scores_[c] = cells_[c][0];
    } else {
      for (int i = 0; i <= n_; ++i) {
        const auto step = [&, a = 0.0](int j) mutable {
          scores_[at(i, j)] = 2 * cells_[at(i, j)][1] + a;
          a += cells_[at(i, j)][0];
        };
        auto ahead = step, back = step;
        for (int j = i + 1; j <= n_ + 1; ++j) ahead(j);
        for (int j = i - 1; j >= 1; --j) back(j);
      }
      const auto step = [&](int i, int j) {
        scores_[at(i, j)] += running(j);
        running(j) += cells_[at(i, j)][2];
      };
      std::fill(running_.begin(), running_.end(), 0.0);
      for (int i = n_; i >= 0; --i)
        for (int j = i + 1; j <= n_ + 1; ++j) step(i, j);
      std::fill(running_.begin(), running_.end(), 0.0);
      for (int i = 0; i <= n_; ++i)
        for (int j = 1; j < i; ++j) step(i, j);
    }
  }

  // From derivatives with respect to scores to derivatives with respect to cells: each running sum in reverse.
  void run_back() {
    if constexpr (Planes == 1) {
      for (std::size_t c = 0; c < cells_.size(); ++c) cells_[c][0] = derivatives_[c];
    } else {
      for (int i = 0; i <= n_; ++i) {
        const auto step = [&, a = 0.0](int j) mutable {
          const double derivative = derivatives_[at(i, j)];
          cells_[at(i, j)] = {a, 2 * derivative, 0};
          a += derivative;
        };
        auto ahead = step, back = step;
        for (int j = n_ + 1; j > i; --j) ahead(j);
        for (int j = 1; j < i; ++j) back(j);
      }
      const auto step = [&](int i, int j) {
        cells_[at(i, j)][2] = running(j);
        running(j) += derivatives_[at(i, j)];
      };
      std::fill(running_.begin(), running_.end(), 0.0);
      for (int i = 0; i <= n_; ++i)
        for (int j = i + 1; j <= n_ + 1; ++j) step(i, j);
      std::fill(running_.begin(), running_.end(), 0.0);
      for (int i = n_; i >= 0; --i)
        for (int j = 1; j < i; ++j) step(i, j);
    }
  }

  const Candidates of_;
  int n_ = 0;
  std::vector<int> when_;               // when each position is visited: 0 for BOS, then 1, 2, …; the largest int if never
  std::vector<std::uint32_t> visited_;  // words of a coverage
  std::vector<Candidate> candidates_;
  std::array<double, kCandidateClasses> class_derivatives_;
  std::vector<Cell> sides_;  // unary sums, or their derivatives: CP i and o, then NP j and o
  std::vector<Cell> cells_;  // A, B, C of each jump, or derivatives by them
  std::vector<double> scores_, derivatives_, running_;
};

}  // namespace hyperbaton
