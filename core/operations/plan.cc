#include "operations/plan.hh"

#include <algorithm>
#include <numeric>

namespace hyperbaton {

namespace {

// Union-find over the words of both sides, target words after the source words; the root of a group is its smallest
// number.
class Groups {
 public:
  explicit Groups(std::size_t n) : parents_(n) { std::iota(parents_.begin(), parents_.end(), 0); }
  int root(int word) {
    while (parents_[to_size(word)] != word) {
      auto& parent = parents_[to_size(word)];
      parent = parents_[to_size(parent)];
      word = parent;
    }
    return word;
  }
  void join(int a, int b) {
    const int first = root(a), second = root(b);
    parents_[to_size(std::max(first, second))] = std::min(first, second);
  }

 private:
  std::vector<int> parents_;
};

}  // namespace

PhrasePlan plan_phrase(std::span<const Link> links, PhraseSize size) {
  constexpr std::uint16_t none = 0xffff;
  const auto n_source = to_size(size.n_source), n_target = to_size(size.n_target);
  Groups groups(n_source + n_target);
  std::vector<bool> linked(n_source + n_target, false);
  for (const auto link : links) {
    groups.join(link.source, size.n_source + link.target);
    linked[link.source] = linked[n_source + link.target] = true;
  }
  PhrasePlan plan;
  std::vector<std::uint16_t> cept_of(n_source, none);  // by the root, which is a source word
  for (std::size_t j = 0; j < n_target; ++j) {
    if (!linked[n_source + j]) continue;
    auto& cept = cept_of[to_size(groups.root(static_cast<int>(n_source + j)))];
    if (cept == none) {
      cept = static_cast<std::uint16_t>(plan.cepts.size());
      plan.cepts.emplace_back();
    }
    plan.cepts[cept].target.push_back(static_cast<std::uint16_t>(j));
  }
  for (std::size_t i = 0; i < n_source; ++i)
    if (linked[i])
      plan.cepts[cept_of[to_size(groups.root(static_cast<int>(i)))]].source.push_back(static_cast<std::uint16_t>(i));

  using Kind = PlannedWord::Kind;
  const auto add_unlinked = [&](std::size_t from) {
    for (std::size_t i = from; i < n_source && !linked[i]; ++i)
      plan.words.push_back({.kind = Kind::Insert, .position = static_cast<std::uint16_t>(i), .cept = none});
  };
  add_unlinked(0);
  for (std::size_t j = 0; j < n_target; ++j) {
    if (!linked[n_source + j]) {
      plan.words.push_back({.kind = Kind::Delete, .position = static_cast<std::uint16_t>(j), .cept = none});
      continue;
    }
    const auto number = cept_of[to_size(groups.root(static_cast<int>(n_source + j)))];
    const auto& cept = plan.cepts[number];
    if (cept.target.front() != j) continue;
    for (const auto i : cept.source) {
      plan.words.push_back(
          {.kind = i == cept.source.front() ? Kind::Translate : Kind::Continue, .position = i, .cept = number});
      add_unlinked(i + 1U);
    }
  }
  return plan;
}

}  // namespace hyperbaton
