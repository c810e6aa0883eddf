#include "decode/nbest.hh"

#include <queue>

namespace hyperbaton {

namespace {

// A path from a hypothesis to the end. Its total with the best path to that hypothesis is exact, so paths popped from a
// queue by total are completed in the order of their scores.
struct Way {
  double total;
  std::uint32_t hypothesis;
  std::uint32_t option;  // of the next step, with the path that continues from there
  std::uint32_t rest;
};

}  // namespace

std::vector<Path> best_paths(const Search& search, const Space& space, const NBestSettings& settings) {
  const auto& chart = search.chart();
  std::vector<Way> ways;
  const auto later = [&](std::uint32_t a, std::uint32_t b) {
    return ways[a].total != ways[b].total ? ways[a].total < ways[b].total : a > b;
  };
  std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, decltype(later)> queue(later);
  const auto push = [&](const Way& way) {
    ways.push_back(way);
    queue.push(static_cast<std::uint32_t>(ways.size() - 1));
  };
  for (const auto id : search.stacks().back().ids()) push({chart[id].score, id, kNone, kNone});

  std::vector<Path> paths;
  Interner outputs;
  const std::size_t most =
      settings.distinct && settings.factor == 0 ? ~std::size_t{0} : settings.n * std::max<std::size_t>(settings.factor, 1);
  for (std::size_t taken = 0; taken < most && paths.size() < settings.n && !queue.empty();) {
    search.poll();
    const auto i = queue.top();
    queue.pop();
    const Way way = ways[i];
    const Hypothesis& here = chart[way.hypothesis];
    if (here.previous == kNone) {
      ++taken;
      Path path{way.total, {}};
      std::vector<WordId> words;
      for (Way step = way; step.option != kNone; step = ways[step.rest]) {
        path.options.push_back(step.option);
        const auto target = space.target(step.option);
        words.insert(words.end(), target.begin(), target.end());
      }
      if (!settings.distinct || outputs.number(std::span<const WordId>(words)).second) paths.push_back(std::move(path));
      continue;
    }
    push({way.total, here.previous, here.option, i});
    for (auto at = here.arcs; at != kNone; at = chart.arc(at).next) {
      const auto& arc = chart.arc(at);
      push({way.total - here.score + arc.score, arc.previous, arc.option, i});
    }
  }
  return paths;
}

}  // namespace hyperbaton
