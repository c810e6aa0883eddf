#include "rules/rule_rows.hh"

#include <algorithm>

#include "base/errors.hh"

namespace hyperbaton {

namespace {

// Compares like the decimal text of a number below 1,000: its digits, from the first, in a system with a digit for none.
int text_order(int n) {
  if (n < 10) return 121 * n;
  return n < 100 ? 121 * (n / 10) + 11 * (n % 10 + 1) : 121 * (n / 100) + 11 * (n / 10 % 10 + 1) + n % 10 + 1;
}

}  // namespace

RuleRows::RuleRows(const PairsView& rules, SpelledWords source_words, SpelledWords target_words,
                   std::span<const std::uint32_t> target_ranks, std::size_t n_scores, Digits digits)
    : rules_(rules),
      gaps_(gap_symbols(source_words, target_words)),
      target_ranks_(target_ranks),
      writer_(source_words, target_words, n_scores, digits, " [X] ||| ") {
  if (target_ranks.size() != rules.target.size()) throw Error("each target side needs a rank");
}

std::string_view RuleRows::format(std::span<const std::uint32_t> sources, const PairNumbersView& numbers) {
  const auto n_scores = writer_.n_scores();
  const auto& [scores, counts] = numbers;
  std::size_t first_number = 0;
  writer_.clear();
  for (const auto p : sources) {
    const auto source = rules_.source[p];
    const auto rules = rules_.pairs_of(p);
    if ((first_number + rules.size()) * n_scores > scores.size()) throw Error("scores do not match the rules");
    order_.clear();
    for (auto k = rules.first; k < rules.last; ++k) order_.push_back({target_ranks_[rules_.targets[k]], k});
    std::ranges::sort(order_, {}, &Ranked::rank);
    writer_.set_source(source);
    std::size_t last_row = 0;
    std::span<const WordId> last;
    for (const auto [rank, k] : order_) {
      const auto target = rules_.target[rules_.targets[k]];
      const auto row = writer_.text().size(), at = first_number + k - rules.first;
      find_links(k, source, target);
      writer_.add({.target = target,
                   .scores = scores.subspan(at * n_scores, n_scores),
                   .links = links_,
                   .counts = counts.subspan(3 * at, 3)});
      // Rules that differ only in the order of gaps are sorted by the rest of their rows.
      if (same_words(target, last)) writer_.sort_last(last_row, row);
      last = target;
      last_row = row;
    }
    first_number += rules.size();
  }
  return writer_.text();
}

void RuleRows::find_links(std::size_t rule, std::span<const WordId> source, std::span<const WordId> target) {
  const auto words = rules_.links_of(rule);
  links_.assign(words.begin(), words.end());
  WordId gap = gaps_.first_target;
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (source[i] != gaps_.source) continue;
    if (const auto place = std::ranges::find(target, gap++); place != target.end())
      links_.push_back({static_cast<std::uint8_t>(i), static_cast<std::uint8_t>(place - target.begin())});
  }
  std::ranges::sort(links_, {}, [](InnerLink x) { return text_order(x.source) << 11 | text_order(x.target); });
}

bool RuleRows::same_words(std::span<const WordId> a, std::span<const WordId> b) const {
  return std::ranges::equal(a, b, [&](WordId x, WordId y) { return x == y || (gaps_.is_target(x) && gaps_.is_target(y)); });
}

}  // namespace hyperbaton
