#include "metrics/orders.hh"

#include <algorithm>
#include <vector>

#include "base/parallel.hh"
#include "metrics/edit_distance.hh"

namespace hyperbaton {

namespace {

using Order = std::span<const std::uint16_t>;

// The number of steps of `reference` that also occur in `hypothesis`. Position -1 is the sentence start.
void count_steps(Order hypothesis, Order reference, OrderAgreement& agreement) {
  constexpr int kNoPosition = -2;
  const auto width = [](Order order) { return order.empty() ? 0 : *std::max_element(order.begin(), order.end()) + 1; };
  std::vector<int> before(to_size(std::max(width(hypothesis), width(reference))), kNoPosition);
  int previous = -1;
  for (const int position : reference) {
    before[position] = previous;
    previous = position;
  }
  previous = -1;
  for (const int position : hypothesis) {
    if (before[position] == previous) {
      ++agreement.n_steps;
      if (previous >= 0) ++agreement.n_inner;
    }
    previous = position;
  }
}

// `all` is sorted; see the header.
std::vector<std::uint16_t> complete(Order order, const std::vector<std::uint16_t>& all) {
  std::vector<std::uint16_t> completed(order.begin(), order.end());
  std::vector<std::uint16_t> listed = completed;
  std::sort(listed.begin(), listed.end());
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (std::binary_search(listed.begin(), listed.end(), all[i])) continue;
    const auto at = i == 0 ? completed.begin() : std::find(completed.begin(), completed.end(), all[i - 1]) + 1;
    completed.insert(at, all[i]);
  }
  return completed;
}

void compare_permutations(Order hypothesis, Order reference, OrderAgreement& agreement) {
  std::vector<std::uint16_t> all(hypothesis.begin(), hypothesis.end());
  all.insert(all.end(), reference.begin(), reference.end());
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  const auto from = complete(hypothesis, all), to = complete(reference, all);
  std::vector<std::size_t> rank(all.empty() ? 0 : all.back() + std::size_t{1});
  for (std::size_t i = 0; i < to.size(); ++i) rank[to[i]] = i;
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (rank[from[i]] != i) ++agreement.n_displaced;
    for (std::size_t j = i + 1; j < from.size(); ++j) agreement.n_discordant += rank[from[j]] < rank[from[i]];
  }
  agreement.n_positions = static_cast<std::int64_t>(all.size());
}

}  // namespace

std::vector<OrderAgreement> compare_orders(const OrdersView& hypotheses, const OrdersView& references,
                                           std::span<const std::int64_t> line, unsigned n_threads) {
  return count_pairs(hypotheses, references, line, kManySentences, n_threads, {},
                     [](Order hypothesis, Order reference, Poll&) {
                       OrderAgreement agreement{};
                       agreement.n_reference = static_cast<std::int64_t>(reference.size());
                       count_steps(hypothesis, reference, agreement);
                       compare_permutations(hypothesis, reference, agreement);
                       return agreement;
                     });
}

}  // namespace hyperbaton
