#include <cstring>
#include <utility>

#include "base/numbers.hh"
#include "lm/arpa.hh"
#include "lm/ngram_rows.hh"

namespace hyperbaton {

namespace {

constexpr std::size_t kBlock = 1 << 13;   // n-grams that a thread writes at once
constexpr std::size_t kBlocksAtOnce = 8;  // for each thread

// A model's n-grams, found in its tables and sorted.
class ModelSource : public ArpaSource {
 public:
  ModelSource(const NgramModel& model, unsigned n_threads) : model_(model), n_threads_(n_threads) {}
  std::uint32_t order() const override { return model_.order(); }
  std::size_t n_words() const override { return model_.n_words(); }
  std::size_t count(std::uint32_t order) const override { return model_.count_ngrams(order); }

  void start(std::uint32_t order) override {
    order_ = order;
    if (model_.is_packed()) spell_packed();
    std::vector<std::uint32_t> slots;
    for (std::uint32_t slot = 0; slot < model_.n_slots(order); ++slot)
      if (model_.is_ngram(order, slot)) slots.push_back(slot);
    with_order(order, [&]<std::size_t N>() {
      rows_.resize(slots.size() * (N + 2));
      const auto rows = as_rows<N>(std::span(rows_));
      parallel_chunks(rows.size(), 1 << 14, n_threads_, {}, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
          if (model_.is_packed()) {
            const auto slot = model_.packed_table(N)[slots[i]];
            std::copy_n(words_.begin() + static_cast<std::ptrdiff_t>(slots[i] * N), N, rows[i].words.begin());
            rows[i].set_probs(slot.prob(), slot.backoff().first);
          } else {
            const auto& table = model_.table(N);
            spell(slots[i], rows[i].words.data());
            rows[i].set_probs(table.prob(slots[i]), N < model_.order() ? table.backoff(slots[i]) : 0);
          }
        }
      });
      sort_rows(rows_, N, RowOrder::BySuffix, n_threads_, {});
    });
  }

  void fill(std::size_t begin, std::span<std::uint32_t> rows) const override {
    std::copy_n(rows_.begin() + static_cast<std::ptrdiff_t>(begin * (order_ + 2)), rows.size(), rows.begin());
  }

 private:
  // The words of all slots of a packed order, from those of the order below. The oldest word of an n-gram is that of its
  // context, which is among the children of its parent's context.
  void spell_packed() {
    const auto n_slots = model_.n_slots(order_);
    std::vector<WordId> words;
    std::vector<std::uint64_t> contexts;
    if (order_ == 1) {
      for (std::uint32_t word = 0; word < n_slots; ++word) words.push_back(word);
    } else {
      const auto n_below = model_.n_slots(order_ - 1);
      for (std::uint64_t parent = 0; parent < n_below; ++parent) {
        const auto children = model_.packed_table(order_ - 1)[parent].children();
        if (children.begin != contexts.size()) throw_damaged("the n-grams of the language model are not in order");
        const auto first = order_ == 2 ? 0 : model_.packed_table(order_ - 2)[contexts_[parent]].children().begin;
        for (auto slot = children.begin; slot < children.end; ++slot) {
          const auto context = first + model_.packed_table(order_)[slot].rank();
          if (context >= n_below) throw_damaged("an n-gram of the language model has no context");
          contexts.push_back(context);
          words.push_back(words_[context * (order_ - 1)]);
          words.insert(words.end(), words_.begin() + static_cast<std::ptrdiff_t>(parent * (order_ - 1)),
                       words_.begin() + static_cast<std::ptrdiff_t>((parent + 1) * (order_ - 1)));
        }
      }
      if (contexts.size() != n_slots) throw_damaged("an n-gram of the language model has no parent");
    }
    words_ = std::move(words);
    contexts_ = std::move(contexts);
  }

  // The words of the n-gram in a slot of a hashed model, oldest first.
  void spell(std::uint32_t slot, WordId* words) const {
    for (auto n = order_; n >= 1; --n) {
      if (slot >= model_.table(n).n_slots()) throw_damaged("an n-gram of the language model has no parent");
      *words++ = ngram_key::word(model_.table(n).key(slot));
      if (n > 1) slot = ngram_key::parent(model_.table(n).key(slot));
    }
  }

  NgramModel model_;
  unsigned n_threads_;
  std::uint32_t order_ = 0;
  std::vector<std::uint32_t> rows_;  // NgramRows of the order being written, with words oldest first
  // Of a packed model, for each slot of this order: its words, oldest first; the slot of its context in the order below.
  std::vector<WordId> words_;
  std::vector<std::uint64_t> contexts_;
};

// The n-grams of an estimation, ordered by their links: n-grams are grouped by context, in the order of the contexts;
// within a context, suffix order is the order of the newest words.
class TreeSource : public ArpaSource {
 public:
  explicit TreeSource(const NgramTree& tree) : tree_(tree) {}
  std::uint32_t order() const override { return static_cast<std::uint32_t>(tree_.order()); }
  std::size_t n_words() const override { return tree_.levels()[0].size; }
  std::size_t count(std::uint32_t order) const override { return tree_.levels()[order - 1].size; }

  void start(std::uint32_t order) override {
    order_ = order;
    const auto& level = tree_.levels()[order - 1];
    std::vector<WordId> newest(level.size);
    for (std::uint32_t i = 0; i < level.size; ++i) newest[i] = order == 1 ? i : newest_[level.parent[i]];
    std::vector<std::uint32_t> numbers(level.size);
    auto& words = words_.emplace_back(level.size);
    if (order == 1) {
      for (std::uint32_t i = 0; i < level.size; ++i) words[i] = numbers[i] = i;
    } else {
      const auto n_contexts = numbers_.size();
      std::vector<std::uint32_t> next(n_contexts, 0);
      for (const auto context : level.context) ++next[context];
      auto& first = first_.emplace_back(n_contexts + 1);
      std::uint32_t n = 0;
      for (std::size_t c = 0; c < n_contexts; ++c) {
        first[c] = n;
        n += std::exchange(next[numbers_[c]], n);
      }
      first[n_contexts] = n;
      for (std::uint32_t i = 0; i < level.size; ++i) {
        const auto at = next[level.context[i]]++;
        numbers[at] = i;
        words[at] = newest[i];
      }
    }
    numbers_ = std::move(numbers);
    newest_ = std::move(newest);
  }

  void fill(std::size_t begin, std::span<std::uint32_t> rows) const override {
    constexpr std::size_t ahead = 16;
    const auto& level = tree_.levels()[order_ - 1];
    // Index of the n-gram and of its contexts within their orders: [k - 1] is for order k.
    std::array<std::uint32_t, kMaxNgramOrder> path{};
    path[order_ - 1] = static_cast<std::uint32_t>(begin);
    for (auto k = order_ - 1; k >= 1; --k) {
      const auto& first = first_[k - 1];
      path[k - 1] = static_cast<std::uint32_t>(std::upper_bound(first.begin(), first.end(), path[k]) - first.begin() - 1);
    }
    for (auto* row = rows.data(); row < rows.data() + rows.size(); row += order_ + 2) {
      for (auto k = order_ - 1; k >= 1 && path[k] >= first_[k - 1][path[k - 1] + 1]; --k)
        while (path[k] >= first_[k - 1][path[k - 1] + 1]) ++path[k - 1];
      for (std::uint32_t k = 0; k < order_; ++k) row[k] = words_[k][path[k]];
      if (path[order_ - 1] + ahead < numbers_.size()) {
        const auto later = numbers_[path[order_ - 1] + ahead];
        __builtin_prefetch(level.prob.data() + later);
        if (!level.weight.empty()) __builtin_prefetch(level.weight.data() + later);
      }
      const auto i = numbers_[path[order_ - 1]++];
      row[order_] = std::bit_cast<std::uint32_t>(level.prob[i]);
      row[order_ + 1] = level.weight.empty() ? 0 : std::bit_cast<std::uint32_t>(level.weight[i]);
    }
  }

 private:
  const NgramTree& tree_;
  std::uint32_t order_ = 0;
  std::vector<WordId> newest_;  // words of the n-grams of this order, by suffix
  // Sorted by word number, oldest word first:
  std::vector<std::uint32_t> numbers_;             // of the n-grams of this order
  std::vector<std::vector<WordId>> words_;         // their newest words, of the orders so far
  std::vector<std::vector<std::uint32_t>> first_;  // where the n-grams of each context begin, of order 2 on
};

}  // namespace

ArpaWriter::ArpaWriter(const NgramModel& model, SpelledWords words, unsigned n_threads)
    : ArpaWriter(std::make_unique<ModelSource>(model, n_threads), words, n_threads) {}

ArpaWriter::ArpaWriter(const NgramTree& tree, SpelledWords words, unsigned n_threads)
    : ArpaWriter(std::make_unique<TreeSource>(tree), words, n_threads) {}

ArpaWriter::ArpaWriter(std::unique_ptr<ArpaSource> source, SpelledWords words, unsigned n_threads)
    : source_(std::move(source)), words_(words), n_threads_(n_threads) {
  if (words.size() != source_->n_words()) throw Error("the vocabulary does not match the language model");
}

std::string ArpaWriter::ngram_lines(std::size_t begin, std::size_t end) const {
  const std::size_t width = order_ + 2;
  const bool has_backoff = order_ < source_->order();
  std::vector<std::uint32_t> rows((end - begin) * width);
  source_->fill(begin, rows);
  std::string text, context;  // the text between the probability and the newest word
  std::size_t size = 0;
  const auto append_word = [&](std::string& to, WordId word) {
    const auto spelled = slice(words_.bytes, words_.offsets, word);
    to.append(reinterpret_cast<const char*>(spelled.data()), spelled.size());
  };
  const auto* last = static_cast<const std::uint32_t*>(nullptr);
  for (const auto* row = rows.data(); row < rows.data() + rows.size(); last = row, row += width) {
    if (last == nullptr || !std::equal(row, row + order_ - 1, last)) {
      context.assign(1, '\t');
      for (std::uint32_t k = 0; k + 1 < order_; ++k) {
        append_word(context, row[k]);
        context.push_back(' ');
      }
    }
    const auto newest = slice(words_.bytes, words_.offsets, row[order_ - 1]);
    const auto most = context.size() + newest.size() + 2 * (kMaxFloatText + 1);
    if (text.size() < size + most) text.resize(std::max(2 * text.size(), size + most + (end - begin) * 32));
    auto* at = write_float(text.data() + size, std::bit_cast<float>(row[order_]));
    std::memcpy(at, context.data(), context.size());
    at += context.size();
    std::memcpy(at, newest.data(), newest.size());
    at += newest.size();
    if (has_backoff) {
      *at++ = '\t';
      at = write_float(at, std::bit_cast<float>(row[order_ + 1]));
    }
    *at++ = '\n';
    size = to_size(at - text.data());
  }
  text.resize(size);
  return text;
}

std::string ArpaWriter::next() {
  if (n_given_ < blocks_.size()) return std::move(blocks_[n_given_++]);
  std::string text;
  if (order_ > source_->order()) return text;
  if (order_ == 0) {
    text = "\\data\\\n";
    for (std::uint32_t n = 1; n <= source_->order(); ++n)
      text += "ngram " + std::to_string(n) + "=" + std::to_string(source_->count(n)) + "\n";
  }
  if (done_ == count_) {
    if (++order_ > source_->order()) return "\n\\end\\\n";
    source_->start(order_);
    count_ = source_->count(order_);
    done_ = 0;
    return text + "\n\\" + std::to_string(order_) + "-grams:\n";
  }
  const auto n = std::min(count_ - done_, kBlock * kBlocksAtOnce * std::max(n_threads_, 1U));
  blocks_.assign((n + kBlock - 1) / kBlock, {});
  parallel_chunks(n, kBlock, n_threads_, {}, [&](std::size_t begin, std::size_t end) {
    blocks_[begin / kBlock] = ngram_lines(done_ + begin, done_ + end);
  });
  done_ += n;
  n_given_ = 1;
  return std::move(blocks_.front());
}

}  // namespace hyperbaton
