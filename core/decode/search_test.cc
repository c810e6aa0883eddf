// The whole search on a toy example, compared with exhaustive enumeration.
#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <random>

#include "base/size.hh"
#include "decode/decode.hh"
#include "testing/testing.hh"

using namespace hyperbaton;

namespace {

constexpr int kWords = 5;

// One sentence; each word and each pair of adjacent words has two translations.
struct Toy {
  TranslationOptions options;
  std::vector<std::int64_t> source_offsets{0, kWords};
  std::vector<float> jumps, classes;
  std::vector<std::int64_t> jump_offsets{0, (kWords + 1) * (kWords + 1)};

  Toy() {
    std::mt19937 random(3);
    const auto draw = [&] { return -static_cast<float>(random() % 1000) / 250.0F; };
    options.n_features = 1 + kOwnFeatures;
    options.offsets = {0};
    options.target_offsets = {0};
    options.link_offsets = {0};
    for (int begin = 0; begin < kWords; ++begin)
      for (int end = begin + 1; end <= std::min(begin + 2, kWords); ++end) {
        std::vector<float> scores{draw(), draw()};
        std::ranges::sort(scores, std::greater());
        for (const float score : scores) add({begin, end}, score);
      }
    options.offsets.push_back(static_cast<std::int64_t>(options.size()));
    for (int i = 0; i < (kWords + 1) * (kWords + 1); ++i) jumps.push_back(draw());
    for (std::size_t i = 0; i < 4 * options.size(); ++i) classes.push_back(draw());
  }

  void add(SourceSpan span, float score) {
    options.sentence.push_back(0);
    options.begin.push_back(static_cast<std::uint16_t>(span.begin));
    options.length.push_back(static_cast<std::uint8_t>(span.end - span.begin));
    options.pair.push_back(0);
    options.target_words.push_back(static_cast<WordId>(options.pair.size()));
    options.target_offsets.push_back(static_cast<std::int64_t>(options.target_words.size()));
    for (int i = span.begin; i < span.end; ++i) options.links.push_back({static_cast<std::uint16_t>(i - span.begin), 0});
    options.link_offsets.push_back(static_cast<std::int64_t>(options.links.size()));
    options.features.insert(options.features.end(), {score, -1, 1, 0});
    options.score.push_back(score);
    options.estimate.push_back(score);
  }

  DecodeInput input(bool remaining = false) const {
    DecodeInput made{options, source_offsets, {}, {}, {}, {}};
    // Out of order: the list sorts them by kind.
    made.features.add("jump", JumpScorer{jumps, jump_offsets, 0.5F, true, remaining, {}});
    made.features.add("after", scorer(Side::After, StepRule::Neighbour));
    made.features.add("distance", WeightedDistance{0.25F});
    made.features.add("hierarchical", scorer(Side::Before, StepRule::Hierarchical));
    return made;
  }
  OptionScorer scorer(Side side, StepRule rule) const {
    return {classes, 4, {0.5F, 0.25F, 1.0F, 0.75F}, rule, side, {}, {0, 1, 2, 3}, false, {}};
  }
};

constexpr auto kKinds = {SearchKind::Stack, SearchKind::Cube, SearchKind::Refine};

DecodeSettings how(SearchKind kind, std::size_t stack, int limit) {
  constexpr double kNever = -std::numeric_limits<double>::infinity();
  return {{kind, {stack, kNever}, 100000, {limit, true, {false, true}, FutureJumps::None, 0, false}},
          {3, false, 1},
          false,
          false,
          1};
}

// The best score over all translations, computed from the weighted values of whole paths.
double best_by_trying(const DecodeInput& input, std::span<const double> weights, int limit) {
  Space space(input, 0, {-1, true, {false, false}, FutureJumps::None, 0, false});
  double best = -std::numeric_limits<double>::infinity();
  std::vector<std::uint32_t> path;
  const std::function<void(unsigned, int)> extend = [&](unsigned covered, int end) {
    if (covered == (1U << kWords) - 1) {
      std::vector<float> values;
      space.add_path_values(path, values);
      double score = 0;
      for (std::size_t i = 0; i < values.size(); ++i) score += values[i] * weights[i % weights.size()];
      best = std::max(best, score);
      return;
    }
    const int gap = std::countr_one(covered);
    for (std::uint32_t o = 0; o < input.options.size(); ++o) {
      const int begin = input.options.begin[o], next = begin + input.options.length[o];
      const unsigned bits = ((1U << next) - 1) & ~((1U << begin) - 1);
      if (covered & bits) continue;
      if (limit >= 0 && (std::abs(begin - end) > limit || (begin != gap && std::abs(next - gap) > limit))) continue;
      path.push_back(o);
      extend(covered | bits, next);
      path.pop_back();
    }
  };
  extend(0, 0);
  return best;
}

}  // namespace

TEST("columns are sorted by kind of feature, with the option's own last") {
  const Toy toy;
  const auto input = toy.input();
  CHECK(input.column_names() ==
        std::vector<std::string>({"distance", "after", "after", "after", "after", "hierarchical", "hierarchical",
                                  "hierarchical", "hierarchical", "jump", "TranslationModel0", "WordPenalty0",
                                  "PhrasePenalty0", "UnknownWordPenalty0"}));
}

TEST("without pruning, every search algorithm finds the best of all orders") {
  const Toy toy;
  const auto input = toy.input();
  const std::vector<double> weights{0.25, 0.5, 0.25, 1.0, 0.75, 0.5, 0.25, 1.0, 0.75, 0.5, 1, 0, 0, 0};
  for (const int limit : {-1, 0, 2}) {
    const double best = best_by_trying(input, weights, limit);
    for (const auto kind : kKinds) {
      const auto decoded = decode(input, how(kind, 0, limit), {});
      CHECK(decoded.path_offsets == std::vector<std::int64_t>({0, 3}));
      CHECK(std::abs(decoded.scores[0] - best) < 1e-4);
      CHECK(decoded.scores[0] >= decoded.scores[1]);
      // Weighted values add up to the score.
      for (std::size_t path = 0; path < decoded.scores.size(); ++path) {
        const auto first = to_size(decoded.step_offsets[path]) + path;
        const auto last = to_size(decoded.step_offsets[path + 1]) + path + 1;
        double score = 0;
        for (std::size_t i = first * weights.size(); i < last * weights.size(); ++i)
          score += decoded.features[i] * weights[i % weights.size()];
        CHECK(std::abs(decoded.scores[path] - score) < 1e-4);
      }
    }
  }
}

TEST("a small beam still finishes, with a score that is no better") {
  const Toy toy;
  const auto input = toy.input();
  const auto all = decode(input, how(SearchKind::Stack, 0, -1), {});
  const auto few = decode(input, how(SearchKind::Stack, 2, -1), {});
  CHECK(few.scores[0] <= all.scores[0]);
  CHECK(few.counts[0].hypotheses < all.counts[0].hypotheses);
}

TEST("the bound on remaining jumps is never below a hypothesis' score") {
  const Toy toy;
  for (const bool remaining : {false, true}) {
    DecodeInput input{toy.options, toy.source_offsets, {}, {}, {}, {}};
    input.features.add("jump", JumpScorer{toy.jumps, toy.jump_offsets, 0.5F, true, remaining, {}});
    auto options = how(SearchKind::Stack, 0, -1).search;
    const auto estimates = [&](FutureJumps kind) {
      options.limits.future_jumps = kind;
      Space space(input, 0, options.limits);
      Poll poll([] { return true; });
      Search search(space, options, true, poll);
      CHECK(search.run());
      std::vector<double> slacks;
      const auto graph = search_graph(search);
      auto row = graph.begin();
      for (const auto& stack : search.stacks())
        for (const auto id : stack.ids()) {
          while (row->recombined >= 0) ++row;
          slacks.push_back(search.chart()[id].estimate - row++->best);
        }
      return slacks;
    };
    const auto none = estimates(FutureJumps::None), bound = estimates(FutureJumps::Bound);
    CHECK(std::ranges::min(bound) > -1e-4);
    // The bound is informative: hypotheses score lower than without it.
    CHECK(bound[0] < none[0]);
  }
}

TEST("improbable jumps are not tried, but the sentence is still covered") {
  const Toy toy;
  for (const auto kind : kKinds) {
    const auto input = toy.input(true);
    auto few = how(kind, 0, -1);
    few.search.limits.jump_threshold = 0.3F;
    const auto all = decode(input, how(kind, 0, -1), {}), some = decode(input, few, {});
    CHECK(some.scores.size() == 3);
    CHECK(some.scores[0] <= all.scores[0]);
    CHECK(some.counts[0].hypotheses < all.counts[0].hypotheses);
    CHECK(some.counts[0].spans_cut > 0);
    few.search.limits.jump_threshold = 1;  // only monotone steps are left
    for (const auto option : decode(input, few, {}).options) CHECK(option >= 0);
  }
}
