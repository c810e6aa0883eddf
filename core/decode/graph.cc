#include "decode/graph.hh"

#include "base/math.hh"
#include "base/size.hh"

namespace hyperbaton {

std::vector<GraphRow> search_graph(const Search& search) {
  const auto& chart = search.chart();
  const auto stacks = search.stacks();
  std::vector<GraphRow> rows;
  std::vector<std::int64_t> numbers(chart.size(), -1);
  const auto add = [&](std::int64_t stack, std::uint32_t back, std::uint32_t option, double score,
                       std::int64_t recombined) {
    const bool first = back == kNone;
    rows.push_back({static_cast<std::int64_t>(rows.size()), stack, first ? -1 : numbers[back], recombined,
                    first ? -1 : static_cast<std::int64_t>(option), score, first ? 0 : score - chart[back].score,
                    -kInfinity});
  };
  for (std::size_t s = 0; s < stacks.size(); ++s)
    for (const auto id : stacks[s].ids()) {
      const auto& here = chart[id];
      numbers[id] = static_cast<std::int64_t>(rows.size());
      add(static_cast<std::int64_t>(s), here.previous, here.option, here.score, -1);
      for (auto at = here.arcs; at != kNone; at = chart.arc(at).next)
        add(static_cast<std::int64_t>(s), chart.arc(at).previous, chart.arc(at).option, chart.arc(at).score, numbers[id]);
    }
  // From the end back: the score of the best continuation of each hypothesis.
  std::vector<double> rest(rows.size(), -kInfinity);
  const auto last = static_cast<std::int64_t>(stacks.size()) - 1;
  for (auto row = rows.rbegin(); row != rows.rend(); ++row) {
    const auto at = to_size(row->recombined < 0 ? row->hypothesis : row->recombined);
    if (row->stack == last) rest[at] = 0;
    row->best = row->score + rest[at];
    if (row->back >= 0) {
      auto& before = rest[to_size(row->back)];
      before = std::max(before, row->transition + rest[at]);
    }
  }
  return rows;
}

}  // namespace hyperbaton
