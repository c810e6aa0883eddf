#include "lm/ngram_tree.hh"

#include <limits>

namespace hyperbaton {

NgramTree::NgramTree(const TokensView& text, std::size_t n_words, std::span<const std::uint64_t> thresholds)
    : thresholds_(thresholds.begin(), thresholds.end()), n_words_(n_words) {
  if (order() < 1 || order() > kMaxNgramOrder)
    throw Error("a language model needs an order from 1 to " + std::to_string(kMaxNgramOrder));
  if (text.offsets.empty() || text.offsets.back() != static_cast<std::int64_t>(text.tokens.size()))
    throw Error("sentence offsets do not match the tokens");
  const auto n_sentences = text.offsets.size() - 1;
  if (n_sentences == 0) throw Error("there are no sentences to estimate a language model from");
  if (text.tokens.size() + 2 * n_sentences >= kPadded) throw Error("too many words for a text in memory");
  if (n_words <= NgramModel::kEos || n_words >= kPadded) throw Error("the vocabulary does not match the text");
  text_.reserve(text.tokens.size() + 2 * n_sentences);
  starts_.assign(n_words + 1, 0);
  const auto add = [&](WordId word) {
    text_.push_back(word);
    ++starts_[word];
  };
  for (std::size_t s = 0; s < n_sentences; ++s) {
    add(NgramModel::kBos);
    for (const auto word : text[s]) {
      if (word == NgramModel::kBos || word == NgramModel::kEos) throw Error("there is <s> or </s> inside a sentence");
      if (word >= n_words) throw Error("n-grams contain words that are not in the vocabulary");
      add(word);
    }
    add(NgramModel::kEos);
  }
  for (std::size_t word = NgramModel::kEos; word < n_words; ++word)
    if (starts_[word] == 0) throw Error("a word of the vocabulary is not in the text");
}

void NgramTree::add_words() {
  auto& level = levels_.emplace_back();
  level.size = n_words_;
  level.count.assign(starts_.begin(), starts_.end() - 1);
  level.count[NgramModel::kBos] = 0;
  exclusive_sum(starts_);
  auto next = starts_;
  places_.resize(text_.size());
  for (std::uint32_t t = 0; t < text_.size(); ++t) places_[next[text_[t]]++] = {t, text_[t]};
  next_places_.resize(order() > 1 ? text_.size() : 0);
}

void NgramTree::add_level(const Progress& progress) {
  if (levels_.size() == order()) throw Error("all orders are counted");
  if (levels_.empty()) {
    add_words();
  } else {
    constexpr std::size_t ahead = 16;
    const auto n = places_.size();
    Poll poll([&] { return !progress || progress(levels_.size(), order()); });
    auto next = starts_;
    const auto following = [&](std::size_t i) { return places_[i].position + 1U == n ? 0U : places_[i].position + 1U; };
    for (std::size_t i = 0; i < n; ++i) {
      if (i + ahead < n) __builtin_prefetch(&text_[following(i + ahead)]);
      const auto t = following(i);
      next_places_[next[text_[t]]++] = {t, places_[i].group};
      poll();
    }

    // So far the groups of the next places are those of their contexts, and a group of places still contains all its
    // n-grams: it is their parent.
    auto& lower = levels_.back();
    Level level;
    std::vector<std::uint32_t> n_children(lower.size, 0);
    std::uint32_t n_padded = 0;
    for (WordId word = 0; word < n_words_; ++word) {
      const auto begin = starts_[word], end = starts_[word + 1];
      if (word == NgramModel::kBos) {
        for (auto i = begin; i < end; ++i) next_places_[i].group = kPadded | n_padded;
        ++n_padded;
        continue;
      }
      for (auto i = begin; i < end;) {
        poll();
        const auto context = next_places_[i].group, first = i;
        const bool padded = (context & kPadded) != 0;
        const auto group = padded ? kPadded | n_padded++ : static_cast<std::uint32_t>(level.context.size());
        for (; i < end && next_places_[i].group == context; ++i) next_places_[i].group = group;
        if (padded) continue;
        const auto parent = places_[first].group;
        level.context.push_back(context);
        level.parent.push_back(parent);
        level.count.push_back(i - first);
        ++n_children[parent];
      }
    }
    level.size = level.context.size();
    // n-grams that begin with <s> have no children.
    const auto threshold = thresholds_[levels_.size() - 1];
    for (std::size_t i = 0; i < lower.size; ++i) {
      const bool prune = levels_.size() > 1 && lower.count[i] <= threshold;
      if (n_children[i] > 0) lower.count[i] = n_children[i];
      if (prune) lower.count[i] |= kPruned;
    }
    levels_.push_back(std::move(level));
    std::swap(places_, next_places_);
  }
  if (levels_.size() < order()) return;
  if (order() > 1)
    for (auto& count : levels_.back().count)
      if (count <= thresholds_.back()) count |= kPruned;
  places_ = {};
  next_places_ = {};
  text_ = {};
}

CountOfCounts NgramTree::count_of_counts(std::size_t order) const {
  CountOfCounts counts{};
  for (const auto count : levels_.at(order - 1).count) {
    const auto adjusted = count & ~kPruned;
    if (adjusted >= 1 && adjusted <= 4) ++counts[adjusted - 1];
  }
  return counts;
}

void NgramTree::estimate(std::size_t order, const Discounts& discounts, unsigned n_threads) {
  if (levels_.size() < this->order() || order < 1 || order > levels_.size()) throw Error("not all orders are counted");
  auto& level = levels_[order - 1];
  level.prob.resize(level.size);
  if (order == 1) {
    std::vector<std::uint32_t> rows;
    rows.reserve(3 * level.size);
    for (std::uint32_t word = 0; word < level.size; ++word) rows.insert(rows.end(), {word, level.count[word], 0});
    estimate_unigrams(rows, discounts);
    for (std::size_t word = 0; word < level.size; ++word) level.prob[word] = as_rows<1>(std::span(rows))[word].prob();
    return;
  }
  auto& lower = levels_[order - 2];
  std::vector<ContextCounts<std::uint32_t>> contexts(lower.size);
  for (std::size_t i = 0; i < level.size; ++i)
    contexts[level.context[i]].add(level.count[i] & ~kPruned, (level.count[i] & kPruned) != 0);
  std::vector<float> totals(lower.size);
  lower.weight.resize(lower.size);
  constexpr std::size_t chunk = 1 << 14;
  parallel_chunks(lower.size, chunk, n_threads, {}, [&](std::size_t begin, std::size_t end) {
    for (auto i = begin; i < end; ++i) {
      const auto sums = contexts[i].sums(discounts);
      totals[i] = sums.total;
      lower.weight[i] = contexts[i].total > 0 ? sums.weight : 1.0F;
    }
  });
  contexts = {};
  parallel_chunks(level.size, chunk, n_threads, {}, [&](std::size_t begin, std::size_t end) {
    for (auto i = begin; i < end; ++i) {
      const auto context = level.context[i];
      const float prob = discounted(discounts, level.count[i] & ~kPruned) / totals[context];
      level.prob[i] = interpolated(prob, lower.weight[context], lower.prob[level.parent[i]]);
    }
  });
}

void NgramTree::drop_pruned() {
  std::vector<std::uint32_t> numbers;  // of the level below, after pruning
  for (std::size_t k = 2; k <= order(); ++k) {
    auto& level = levels_[k - 1];
    std::vector<std::uint32_t> kept(level.size);
    std::uint32_t n = 0;
    for (std::size_t i = 0; i < level.size; ++i) {
      kept[i] = n;
      if ((level.count[i] & kPruned) != 0) continue;
      level.context[n] = k > 2 ? numbers[level.context[i]] : level.context[i];
      level.parent[n] = k > 2 ? numbers[level.parent[i]] : level.parent[i];
      level.prob[n] = level.prob[i];
      if (k < order()) level.weight[n] = level.weight[i];
      ++n;
    }
    level.size = n;
    level.context.resize(n);
    level.parent.resize(n);
    level.prob.resize(n);
    if (k < order()) level.weight.resize(n);
    numbers = std::move(kept);
  }
}

void NgramTree::finish(unsigned n_threads) {
  if (levels_.back().prob.empty() && levels_.back().size > 0) throw Error("not all orders are estimated");
  if (std::any_of(thresholds_.begin(), thresholds_.end(), [](auto threshold) { return threshold > 0; })) drop_pruned();
  for (auto& level : levels_) {
    level.count = {};
    parallel_chunks(level.size, 1 << 14, n_threads, {}, [&](std::size_t begin, std::size_t end) {
      const auto part = [&](std::vector<float>& values) { return std::span(values).subspan(begin, end - begin); };
      finish_probs(part(level.prob));
      if (!level.weight.empty()) finish_weights(part(level.weight));
    });
  }
}

std::vector<std::vector<WordId>> NgramTree::words() const {
  std::vector<std::vector<WordId>> words(order());
  for (std::size_t k = 1; k <= order(); ++k) {
    const auto& level = levels_[k - 1];
    auto& here = words[k - 1];
    here.resize(k * level.size);
    for (std::size_t i = 0; i < level.size; ++i) {
      if (k == 1) {
        here[i] = static_cast<WordId>(i);
        continue;
      }
      const auto* below = words[k - 2].data();
      here[k * i] = below[(k - 1) * level.context[i]];
      std::copy_n(below + (k - 1) * level.parent[i], k - 1, here.begin() + static_cast<std::ptrdiff_t>(k * i + 1));
    }
  }
  return words;
}

}  // namespace hyperbaton
