#include "block/path.hh"

namespace hyperbaton {

const BlockPath& PathFinder::find(std::span<const Link> links, int n_source) {
  n_source_ = n_source;
  links_.assign(links.begin(), links.end());
  std::ranges::sort(links_);
  starts_.assign(to_size(n_source) + 1, 0);
  order_.clear();
  for (const auto link : links_) {
    if (starts_[link.source + 1u]++ == 0) order_.push_back(link.source);
  }
  for (std::size_t i = 1; i < starts_.size(); ++i) starts_[i] += starts_[i - 1];
  std::ranges::sort(order_, {}, [&](std::uint16_t i) { return std::pair(links_[starts_[i]].target, i); });

  path_.steps.clear();
  path_.targets.clear();
  add_empty(0, 0);
  const auto same_target = [](const Link& a, const Link& b) { return a.target == b.target; };
  for (std::size_t k = 0; k < order_.size();) {
    const int begin = order_[k];
    const auto linked = links_of(begin);
    int end = begin + 1;
    for (++k; k < order_.size() && order_[k] == end && std::ranges::equal(links_of(end), linked, same_target); ++k) ++end;
    const auto first = static_cast<std::uint32_t>(path_.targets.size());
    for (const auto link : linked) path_.targets.push_back(link.target);
    path_.steps.push_back({.source = {begin, end},
                           .first_target = first,
                           .last_target = static_cast<std::uint32_t>(path_.targets.size()),
                           .before = linked.front().target});
    add_empty(end, linked.back().target + 1);
  }
  return path_;
}

void PathFinder::add_empty(int begin, int before) {
  const auto at = static_cast<std::uint32_t>(path_.targets.size());
  for (int i = begin; i < n_source_ && links_of(i).empty(); ++i)
    path_.steps.push_back({.source = {i, i + 1}, .first_target = at, .last_target = at, .before = before});
}

}  // namespace hyperbaton
