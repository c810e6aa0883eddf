#include "hierarchical/derivations.hh"

#include <algorithm>

namespace hyperbaton {

namespace {

// Ties go to the first edge, then to the lower ranks.
constexpr auto kLaterDerivation = [](const Derivation& a, const Derivation& b) {
  return a.score != b.score ? a.score < b.score : std::tie(a.edge, a.ranks) > std::tie(b.edge, b.ranks);
};

}  // namespace

const Derivation* Derivations::get(std::uint32_t hypothesis, std::uint32_t rank) {
  chart_.poll();
  const auto [entry, is_new] = ranked_.try_emplace(hypothesis);
  Ranked& ranked = entry->second;  // the reference stays valid when others are added
  if (is_new) {
    const auto& h = chart_[hypothesis];
    ranked.queue.push_back({.score = h.best.score, .edge = 0, .ranks = {0, 0}});
    std::uint32_t number = 0;
    for (const auto& arc : chart_.arcs(h)) ranked.queue.push_back({.score = arc.score, .edge = ++number, .ranks = {0, 0}});
    std::ranges::make_heap(ranked.queue, kLaterDerivation);
  }
  while (ranked.found.size() <= rank) {
    if (!ranked.found.empty()) add_successors(hypothesis, ranked, Derivation(ranked.found.back()));
    if (ranked.queue.empty()) return nullptr;
    std::ranges::pop_heap(ranked.queue, kLaterDerivation);
    ranked.found.push_back(ranked.queue.back());
    ranked.queue.pop_back();
  }
  return &ranked.found[rank];
}

void Derivations::add_successors(std::uint32_t hypothesis, Ranked& ranked, const Derivation& last) {
  const auto edge = this->edge(hypothesis, last);
  for (std::size_t g = 0; g < kMaxGaps && edge.children[g] != kNone; ++g) {
    auto next = last;
    ++next.ranks[g];
    if (!ranked.seen.insert({next.edge, next.ranks[0], next.ranks[1]}).second) continue;
    const auto* better = get(edge.children[g], last.ranks[g]);
    const double before = better->score;
    const auto* child = get(edge.children[g], next.ranks[g]);
    if (!child) continue;
    next.score += child->score - before;
    ranked.queue.push_back(next);
    std::ranges::push_heap(ranked.queue, kLaterDerivation);
  }
}

}  // namespace hyperbaton
