#include "decode/envelope.hh"

#include <algorithm>
#include <functional>

#include "base/math.hh"
#include "decode/graph.hh"

namespace hyperbaton {

namespace {

struct Line {
  double score, slope;  // at x = 0, and its change with x
  std::uint32_t way;    // its last step
  std::uint32_t rest;   // the line that this step extends
};

// Keep the lines that are highest somewhere, sorted by increasing slope.
void keep_envelope(std::vector<Line>& lines) {
  std::ranges::stable_sort(
      lines, [](const Line& a, const Line& b) { return a.slope != b.slope ? a.slope < b.slope : a.score > b.score; });
  std::size_t n = 0;
  std::vector<double> starts(lines.size());
  for (const Line line : lines) {
    if (n > 0 && line.slope == lines[n - 1].slope) continue;
    double start = -kInfinity;
    while (n > 0) {
      start = (lines[n - 1].score - line.score) / (line.slope - lines[n - 1].slope);
      if (start > starts[n - 1]) break;
      --n;  // overtaken before it overtakes
      start = -kInfinity;
    }
    starts[n] = start;
    lines[n++] = line;
  }
  lines.resize(n);
}

// The steps with the best translations through them, in search order; steps to one hypothesis are adjacent.
std::vector<GraphRow> best_steps(const Search& search, std::size_t most) {
  auto rows = search_graph(search);
  std::erase_if(rows, [](const GraphRow& row) { return row.from == kNone || row.best == -kInfinity; });
  if (rows.size() > most) {
    std::vector<double> best;
    for (const auto& row : rows) best.push_back(row.best);
    std::ranges::nth_element(best, best.begin() + static_cast<std::ptrdiff_t>(most - 1), std::greater());
    // Every step of a translation lies on a translation at least as good, so each kept step stays connected to both ends.
    std::erase_if(rows, [least = best[most - 1]](const GraphRow& row) { return row.best < least; });
  }
  return rows;
}

class Envelopes {
 public:
  Envelopes(const Search& search, Space& space, std::size_t most)
      : search_(search), rows_(best_steps(search, most)), last_(static_cast<std::int64_t>(search.stacks().size()) - 1) {
    const auto& chart = search.chart();
    ranges_.resize(chart.size());
    std::vector<GraphStep> ways;
    for (const auto& row : rows_)
      ways.push_back({chart.state(row.from), chart[row.from].option, static_cast<std::uint32_t>(row.option),
                      row.stack == last_ ? chart.state(row.to) : nullptr});
    features_ = space.way_values(ways);
  }

  // Call take(path) for each translation on the envelope along a direction.
  template <class Take>
  void along(std::span<const double> direction, const Take& take) {
    lines_.assign(1, {0, 0, kNone, kNone});  // of the start, which has no incoming step
    std::ranges::fill(ranges_, Range{0, 1});
    std::vector<Line> here, ends;
    for (std::size_t i = 0; i < rows_.size();) {
      search_.poll();
      const auto& node = rows_[i];
      here.clear();
      for (; i < rows_.size() && rows_[i].to == node.to; ++i) {
        double slope = 0;
        for (std::size_t f = 0; f < direction.size(); ++f) slope += direction[f] * features_[i * direction.size() + f];
        const auto [first, last] = ranges_[rows_[i].from];
        for (auto before = first; before < last; ++before)
          here.push_back({lines_[before].score + rows_[i].transition, lines_[before].slope + slope,
                          static_cast<std::uint32_t>(i), before});
      }
      keep_envelope(here);
      const auto at = static_cast<std::uint32_t>(lines_.size());
      ranges_[node.to] = {at, at + static_cast<std::uint32_t>(here.size())};
      lines_.insert(lines_.end(), here.begin(), here.end());
      if (node.stack == last_) ends.insert(ends.end(), here.begin(), here.end());
    }
    keep_envelope(ends);
    for (const Line& end : ends) {
      Path path{end.score, {}};
      for (const Line* line = &end; line->way != kNone; line = &lines_[line->rest])
        path.options.push_back(static_cast<std::uint32_t>(rows_[line->way].option));
      std::ranges::reverse(path.options);
      take(std::move(path));
    }
  }

 private:
  struct Range {
    std::uint32_t first, last;
  };

  const Search& search_;
  std::vector<GraphRow> rows_;
  std::int64_t last_;            // stack
  std::vector<float> features_;  // of each row
  std::vector<Line> lines_;
  std::vector<Range> ranges_;  // lines of each hypothesis
};

}  // namespace

std::vector<Path> envelope_paths(const Search& search, Space& space, const EnvelopeSettings& settings) {
  std::vector<Path> paths;
  if (settings.directions.empty()) return paths;
  Envelopes envelopes(search, space, settings.max_steps);
  Interner known;
  for (std::size_t at = 0; at < settings.directions.size(); at += settings.n_features)
    envelopes.along(settings.directions.subspan(at, settings.n_features), [&](Path path) {
      if (known.number(std::span<const std::uint32_t>(path.options)).second) paths.push_back(std::move(path));
    });
  return paths;
}

}  // namespace hyperbaton
