#include "align/symmetrize.hh"

#include <algorithm>
#include <array>
#include <string>

#include "base/errors.hh"

namespace hyperbaton {

namespace {

using Final = Symmetrization::Final;

struct Neighbour {
  int source, target;
};
// Horizontal and vertical neighbours first: `grow` alone uses only these four.
constexpr std::array<Neighbour, 8> kNeighbours{{{-1, 0}, {0, -1}, {1, 0}, {0, 1}, {-1, -1}, {-1, 1}, {1, -1}, {1, 1}}};

// Symmetrise one sentence pair at a time. The order in which points are tried decides between points that compete for a
// word, and follows Moses: by target position, then source position, where a scan also visits points that it adds later in
// the order; the final points of the backward direction come before those of the forward direction.
class Joiner {
 public:
  explicit Joiner(Symmetrization method) : method_(method) {}

  void join(std::span<const Link> forward, std::span<const Link> backward, std::vector<Link>& out) {
    collect(forward, backward);
    if (method_.grow) {
      while (grow_once()) {
      }
    }
    if (method_.final_points != Final::None) add_final();
    const auto first = out.size();
    for (const auto& point : points_)
      if (point.kept || method_.keep_union) out.push_back(point.link);
    std::sort(out.begin() + static_cast<std::ptrdiff_t>(first), out.end());
  }

 private:
  struct Point {
    Link link;
    Direction direction;
    bool kept;
  };
  static bool before(Link a, Link b) { return a.target != b.target ? a.target < b.target : a.source < b.source; }

  // The union in the order in which points are tried, with the points of the intersection kept.
  void collect(std::span<const Link> forward, std::span<const Link> backward) {
    points_.clear();
    std::size_t n_source = 0, n_target = 0;
    for (const auto direction : {kToTarget, kToSource})
      for (const auto link : direction == kToTarget ? forward : backward) {
        points_.push_back({.link = link, .direction = direction, .kept = false});
        n_source = std::max<std::size_t>(n_source, link.source + 1u);
        n_target = std::max<std::size_t>(n_target, link.target + 1u);
      }
    source_covered_.assign(n_source, 0);
    target_covered_.assign(n_target, 0);
    std::sort(points_.begin(), points_.end(), [](const Point& a, const Point& b) { return before(a.link, b.link); });
    std::size_t n = 0;
    for (std::size_t k = 0; k < points_.size(); ++k) {
      if (n > 0 && points_[n - 1].link == points_[k].link)
        keep(points_[n - 1]);  // a direction lists a point only once, so the point is in both
      else
        points_[n++] = points_[k];
    }
    points_.resize(n);
  }

  bool covers_new(Link link) const { return !source_covered_[link.source] || !target_covered_[link.target]; }
  void keep(Point& point) {
    point.kept = true;
    source_covered_[point.link.source] = target_covered_[point.link.target] = 1;
  }

  bool grow_once() {
    bool added = false;
    for (std::size_t k = 0; k < points_.size(); ++k) {
      if (!points_[k].kept) continue;
      const Link at = points_[k].link;
      for (std::size_t o = 0; o < (method_.grow_diagonal ? 8u : 4u); ++o) {
        const int source = at.source + kNeighbours[o].source, target = at.target + kNeighbours[o].target;
        if (source < 0 || target < 0) continue;
        const Link link{static_cast<std::uint16_t>(source), static_cast<std::uint16_t>(target)};
        const auto found = std::lower_bound(points_.begin(), points_.end(), link,
                                            [](const Point& point, Link value) { return before(point.link, value); });
        if (found == points_.end() || found->link != link || found->kept || !covers_new(link)) continue;
        keep(*found);
        added = true;
      }
    }
    return added;
  }

  void add_final() {
    for (const auto direction : {kToSource, kToTarget})
      for (auto& point : points_) {
        const bool source_new = !source_covered_[point.link.source], target_new = !target_covered_[point.link.target];
        const bool wanted = method_.final_points == Final::Both ? source_new && target_new : source_new || target_new;
        if (point.direction == direction && !point.kept && wanted) keep(point);
      }
  }

  Symmetrization method_;
  std::vector<Point> points_;
  std::vector<std::uint8_t> source_covered_, target_covered_;
};

}  // namespace

Symmetrization Symmetrization::named(std::string_view name) {
  if (name == "intersection")
    return {.keep_union = false, .grow = false, .grow_diagonal = false, .final_points = Final::None};
  if (name == "union") return {.keep_union = true, .grow = false, .grow_diagonal = false, .final_points = Final::None};
  if (name == "grow") return {.keep_union = false, .grow = true, .grow_diagonal = false, .final_points = Final::None};
  if (name == "grow-diag") return {.keep_union = false, .grow = true, .grow_diagonal = true, .final_points = Final::None};
  if (name == "grow-diag-final")
    return {.keep_union = false, .grow = true, .grow_diagonal = true, .final_points = Final::Either};
  if (name == "grow-diag-final-and")
    return {.keep_union = false, .grow = true, .grow_diagonal = true, .final_points = Final::Both};
  throw Error("unknown symmetrisation '" + std::string(name) +
              "'; known: intersection, union, grow, grow-diag, grow-diag-final, grow-diag-final-and");
}

LinksBuffer symmetrize(LinksView forward, LinksView backward, Symmetrization method, unsigned n_threads,
                       const Progress& progress) {
  const std::size_t n = forward.offsets.size() - 1;
  constexpr std::size_t chunk = 2048;
  std::vector<std::vector<Link>> parts((n + chunk - 1) / chunk);
  LinksBuffer joined;
  joined.offsets.assign(n + 1, 0);
  parallel_chunks(n, chunk, n_threads, progress, [&](std::size_t begin, std::size_t end) {
    Joiner joiner(method);
    auto& part = parts[begin / chunk];
    for (std::size_t s = begin; s < end; ++s) {
      const auto before = part.size();
      joiner.join(forward[s], backward[s], part);
      joined.offsets[s + 1] = static_cast<std::int64_t>(part.size() - before);
    }
  });
  for (std::size_t s = 0; s < n; ++s) joined.offsets[s + 1] += joined.offsets[s];
  joined.points.reserve(to_size(joined.offsets[n]));
  for (auto& part : parts) {
    joined.points.insert(joined.points.end(), part.begin(), part.end());
    part = {};
  }
  return joined;
}

}  // namespace hyperbaton
