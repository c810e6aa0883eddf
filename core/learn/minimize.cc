#include "learn/minimize.hh"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/errors.hh"
#include "learn/passes.hh"

namespace hyperbaton {

namespace {

using Vector = std::vector<double>;

constexpr double kArmijo = 1e-4;
constexpr double kCurvature = 0.9;
constexpr int kMaxTrials = 60;

using Pair = MinimizeState::Pair;

struct Point {
  Vector x, gradient;
  double value;  // without the L1 term
};

double l1_norm(const Vector& x) {
  double sum = 0;
  for (const double one : x) sum += std::abs(one);
  return sum;
}

// The smallest subgradient of f + l1·Σ|x|: the gradient itself if l1 is 0, otherwise stored in `pseudo`.
const Vector& pseudo_gradient(const Point& point, double l1, Vector& pseudo) {
  if (l1 == 0) return point.gradient;
  pseudo = point.gradient;
  for (std::size_t j = 0; j < pseudo.size(); ++j) {
    const double g = point.gradient[j], x = point.x[j];
    if (x != 0)
      pseudo[j] = g + (x > 0 ? l1 : -l1);
    else
      pseudo[j] = g + l1 < 0 ? g + l1 : g - l1 > 0 ? g - l1 : 0;
  }
  return pseudo;
}

// −H·gradient by the two-loop recursion, with H₀ the inverse of the estimated curvature, scaled to the last step.
Vector direction(const Vector& gradient, const std::deque<Pair>& pairs, const Vector& inverse, unsigned n_threads) {
  Vector d = gradient;
  std::vector<double> alphas(pairs.size());
  for (std::size_t i = pairs.size(); i-- > 0;) {
    alphas[i] = dot(pairs[i].step, d, n_threads) / pairs[i].product;
    add_scaled(-alphas[i], pairs[i].change, d, n_threads);
  }
  double scale = 1;
  if (!pairs.empty()) {
    double size = 0;
    for (std::size_t j = 0; j < d.size(); ++j) {
      const double change = pairs.back().change[j];
      size += change * change * inverse[j];
    }
    scale = pairs.back().product / size;
  }
  for (std::size_t j = 0; j < d.size(); ++j) d[j] *= scale * inverse[j];
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const double beta = dot(pairs[i].change, d, n_threads) / pairs[i].product;
    add_scaled(alphas[i] - beta, pairs[i].step, d, n_threads);
  }
  for (double& one : d) one = -one;
  return d;
}

class Minimizer {
 public:
  Minimizer(const Smooth& function, Vector curvature, const MinimizeOptions& options, unsigned n_threads,
            const Progress& progress)
      : function_(function), inverse_(std::move(curvature)), options_(options), n_threads_(n_threads), progress_(progress) {
    for (double& one : inverse_) one = 1 / one;
  }

  Minimum run(Vector x, Checkpoints checkpoints) {
    std::optional<MinimizeState>& start = checkpoints.start;
    const std::size_t n = x.size();
    if (start && (start->x.size() != n || start->gradient.size() != n))
      throw Error("the state belongs to a different minimisation");
    n_passes_ = start ? start->n_passes : 0;
    Point here = start ? Point{std::move(start->x), std::move(start->gradient), start->value} : evaluate(std::move(x));
    Minimum minimum;
    if (start)
      minimum.objective = std::move(start->objective);
    else
      minimum.objective.push_back(full_value(here));
    Vector of_l1;
    const Vector* pseudo = &pseudo_gradient(here, options_.l1, of_l1);
    const double goal = start ? start->goal : options_.goal.value_or(options_.tolerance * largest(*pseudo));
    std::deque<Pair> pairs;
    if (start) pairs = std::move(start->pairs);
    while (n_passes_ < options_.max_passes && largest(*pseudo) > goal && gains(minimum.objective)) {
      Vector d = direction(*pseudo, pairs, inverse_, n_threads_);
      if (options_.l1 > 0)
        for (std::size_t j = 0; j < d.size(); ++j)
          if (d[j] * (*pseudo)[j] >= 0) d[j] = 0;
      double slope = dot(*pseudo, d, n_threads_);
      if (!(slope < 0)) {
        // Rounding errors have corrupted the memory: restart from steepest descent.
        if (pairs.empty()) break;
        pairs.clear();
        continue;
      }
      Point next;
      if (!search(here, *pseudo, d, slope, next)) {
        if (pairs.empty()) break;
        pairs.clear();
        continue;
      }
      remember(here, next, pairs);
      here = std::move(next);
      minimum.objective.push_back(full_value(here));
      pseudo = &pseudo_gradient(here, options_.l1, of_l1);
      if (checkpoints.due && checkpoints.due()) {
        // Moved for the call: a copy would double the memory.
        MinimizeState state{std::move(here.x), std::move(here.gradient), here.value,      goal,
                            n_passes_,         minimum.objective,        std::move(pairs)};
        checkpoints.save(state);
        here.x = std::move(state.x);
        here.gradient = std::move(state.gradient);
        pairs = std::move(state.pairs);
      }
    }
    minimum.x = std::move(here.x);
    return minimum;
  }

 private:
  Point evaluate(Vector x) {
    Point point{std::move(x), {}, 0};
    point.gradient.resize(point.x.size());
    point.value = function_(point.x, point.gradient);
    ++n_passes_;
    if (progress_ && !progress_(n_passes_, options_.max_passes)) throw Cancelled();
    return point;
  }

  double full_value(const Point& point) const {
    return options_.l1 > 0 ? point.value + options_.l1 * l1_norm(point.x) : point.value;
  }

  // Whether the last steps lowered the objective enough to go on.
  bool gains(const Vector& objective) const {
    if (options_.gain == 0 || objective.size() <= kGainSteps) return true;
    const double now = objective.back(), before = objective[objective.size() - 1 - kGainSteps];
    return before - now > options_.gain * kGainSteps * std::abs(now);
  }

  // Find a step along d with sufficient decrease and (without L1) sufficient change of slope.
  bool search(const Point& here, const Vector& pseudo, const Vector& d, double slope, Point& next) {
    double step = 1;
    const double start = full_value(here);
    double low = 0, high = std::numeric_limits<double>::infinity();
    for (int trial = 0; trial < kMaxTrials && n_passes_ < options_.max_passes; ++trial) {
      Vector x = here.x;
      add_scaled(step, d, x, n_threads_);
      double expected = step * slope;
      if (options_.l1 > 0) expected = project(here, pseudo, x);
      next = evaluate(std::move(x));
      const double value = full_value(next);
      if (!(value <= start + kArmijo * expected)) {
        // At the limit of precision, accept a step that changes nothing.
        if (std::abs(value - start) <= 1e-15 * std::abs(start)) return value <= start;
        high = step;
      } else if (options_.l1 == 0 && dot(next.gradient, d, n_threads_) < kCurvature * slope) {
        low = step;
      } else {
        return true;
      }
      step = std::isinf(high) ? 2 * step : (low + high) / 2;
    }
    return low > 0 && full_value(next) < start;
  }

  // Set coordinates that left their orthant to 0; returns pseudo · (x − here).
  static double project(const Point& here, const Vector& pseudo, Vector& x) {
    double change = 0;
    for (std::size_t j = 0; j < x.size(); ++j) {
      const double side = here.x[j] != 0 ? here.x[j] : -pseudo[j];
      if (x[j] * side <= 0) x[j] = 0;
      change += pseudo[j] * (x[j] - here.x[j]);
    }
    return change;
  }

  void remember(const Point& here, const Point& next, std::deque<Pair>& pairs) const {
    Pair pair{std::vector<float>(here.x.size()), std::vector<float>(here.x.size()), 0};
    parallel_chunks(here.x.size(), kVectorChunk, n_threads_, {}, [&](std::size_t begin, std::size_t end) {
      for (std::size_t j = begin; j < end; ++j) {
        pair.step[j] = static_cast<float>(next.x[j] - here.x[j]);
        pair.change[j] = static_cast<float>(next.gradient[j] - here.gradient[j]);
      }
    });
    pair.product = dot(pair.step, pair.change, n_threads_);
    if (pair.product <= 1e-14 * dot(pair.change, pair.change, n_threads_)) return;
    pairs.push_back(std::move(pair));
    if (pairs.size() > options_.memory) pairs.pop_front();
  }

  const Smooth& function_;
  Vector inverse_;
  const MinimizeOptions& options_;
  unsigned n_threads_;
  const Progress& progress_;
  std::size_t n_passes_ = 0;
};

}  // namespace

Minimum minimize(const Smooth& function, std::vector<double> x, std::vector<double> curvature,
                 const MinimizeOptions& options, unsigned n_threads, const Progress& progress, Checkpoints checkpoints) {
  return Minimizer(function, std::move(curvature), options, n_threads, progress).run(std::move(x), std::move(checkpoints));
}

}  // namespace hyperbaton
