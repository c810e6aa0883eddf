#include "corpus/head_spans.hh"

#include <algorithm>
#include <cstdlib>

#include "base/errors.hh"

namespace hyperbaton {

namespace {

bool below(const std::vector<std::int32_t>& heads, std::int32_t word, std::int32_t head) {
  while (word >= 0 && word != head) word = heads[to_size(word)];
  return word == head;
}

bool crosses(const std::vector<std::int32_t>& heads, std::int32_t word) {
  const auto head = heads[to_size(word)];
  if (head < 0) return false;
  for (auto i = std::min(word, head) + 1; i < std::max(word, head); ++i)
    if (!below(heads, i, head)) return true;
  return false;
}

// Shortest arcs first, so that as little as possible moves.
void make_projective(std::vector<std::int32_t>& heads) {
  while (true) {
    std::int32_t shortest = -1, length = 0;
    for (std::int32_t i = 0; i < static_cast<std::int32_t>(heads.size()); ++i) {
      if (!crosses(heads, i)) continue;
      const auto own = std::abs(heads[to_size(i)] - i);
      if (shortest < 0 || own < length) shortest = i, length = own;
    }
    if (shortest < 0) return;
    auto& head = heads[to_size(shortest)];
    head = heads[to_size(head)];
  }
}

class Builder {
 public:
  Builder(const DependenciesView& all, std::uint16_t first_tag) : all_(all), first_tag_(first_tag) {}

  void add(std::size_t s) {
    first_word_ = to_size(all_.offsets[s]);
    const auto n = to_size(all_.offsets[s + 1]) - first_word_;
    first_node_ = trees_.labels.size();
    if (n > 0) {
      const auto own = all_.heads.subspan(first_word_, n);
      std::vector<std::int32_t> heads(own.begin(), own.end());
      make_projective(heads);
      dependents_.assign(n + 1, {});  // the last are the roots
      for (std::size_t i = 0; i < n; ++i)
        dependents_[heads[i] < 0 ? n : to_size(heads[i])].push_back(static_cast<std::uint32_t>(i));
      const auto root = open(0, 0, -1);
      for (const auto word : dependents_[n]) add_word(word, root);
      trees_.ends[first_node_] = static_cast<std::uint16_t>(n);
    }
    trees_.offsets.push_back(static_cast<std::int64_t>(trees_.labels.size()));
  }
  TreesBuffer take() { return std::move(trees_); }

 private:
  std::int32_t open(std::size_t label, std::uint32_t begin, std::int32_t parent) {
    trees_.labels.push_back(static_cast<std::uint16_t>(label));
    trees_.begins.push_back(static_cast<std::uint16_t>(begin));
    trees_.ends.push_back(static_cast<std::uint16_t>(begin + 1));
    trees_.parents.push_back(parent);
    return static_cast<std::int32_t>(trees_.labels.size() - 1 - first_node_);
  }
  void add_word(std::uint32_t word, std::int32_t parent) {
    const auto& own = dependents_[word];
    const auto node = open(std::size_t{1} + all_.relations[first_word_ + word], word, parent);
    const auto right = std::ranges::lower_bound(own, word);
    for (auto left = own.begin(); left != right; ++left) add_word(*left, node);
    open(std::size_t{first_tag_} + all_.tags[first_word_ + word], word, node);
    for (auto next = right; next != own.end(); ++next) add_word(*next, node);
    const auto at = first_node_ + to_size(node);
    if (at + 1 < trees_.begins.size()) trees_.begins[at] = trees_.begins[at + 1];  // that of the first child
    trees_.ends[at] = trees_.ends.back();
    // The last node is the deepest on the right edge.
  }

  const DependenciesView& all_;
  const std::uint16_t first_tag_;
  TreesBuffer trees_;
  std::size_t first_word_ = 0, first_node_ = 0;
  std::vector<std::vector<std::uint32_t>> dependents_;
};

}  // namespace

TreesBuffer head_spans(const DependenciesView& dependencies, std::uint16_t first_tag) {
  const std::size_t n = dependencies.heads.size();
  if (dependencies.relations.size() != n || dependencies.tags.size() != n || dependencies.offsets.empty() ||
      dependencies.offsets.back() != static_cast<std::int64_t>(n))
    throw Error("the columns of the dependencies do not match");
  Builder builder(dependencies, first_tag);
  for (std::size_t s = 0; s + 1 < dependencies.offsets.size(); ++s) builder.add(s);
  return builder.take();
}

}  // namespace hyperbaton
