#include "lm/build.hh"

#include <algorithm>
#include <array>

namespace hyperbaton {

namespace {

using Words = std::span<const WordId>;

// The distinct n-grams that must be added to one order, one behind the other.
struct Blanks {
  std::size_t order;
  std::vector<WordId> words;

  std::size_t size() const { return words.size() / order; }
  Words operator[](std::size_t i) const { return Words(words).subspan(i * order, order); }
  void add(Words ngram) { words.insert(words.end(), ngram.begin(), ngram.end()); }
  void unify() {
    std::vector<std::vector<WordId>> rows;
    for (std::size_t i = 0; i < size(); ++i) rows.emplace_back((*this)[i].begin(), (*this)[i].end());
    std::sort(rows.begin(), rows.end());
    rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
    words.clear();
    for (const auto& row : rows) add(row);
  }
};

class Builder {
 public:
  Builder(std::span<const NgramColumns> orders, std::size_t n_words) : orders_(orders), n_words_(n_words) {
    for (std::size_t n = 1; n < orders.size(); ++n) blanks_.push_back({n, {}});
    for (std::size_t n = 1; n <= orders.size(); ++n) {
      const auto& columns = orders[n - 1];
      const auto size = columns.log10_prob.size();
      const bool has_backoff = !columns.log10_backoff.empty();
      if (columns.words.size() != n * size || (has_backoff && columns.log10_backoff.size() != size))
        throw Error("the columns of the n-grams of order " + std::to_string(n) + " do not fit each other");
      if (std::any_of(columns.words.begin(), columns.words.end(), [&](WordId word) { return word >= n_words; }))
        throw Error("n-grams of words that are not in the vocabulary");
    }
  }

  std::vector<NgramArrays> build() {
    // A blank may need blanks itself, each shorter than what needs it.
    while (!fill()) {
      for (std::size_t n = 2; n < orders_.size(); ++n) {
        for (std::size_t i = 0; i < missing_[n - 1].size(); ++i) blanks_[n - 1].add(missing_[n - 1][i]);
        blanks_[n - 1].unify();
      }
    }
    return std::move(arrays_);
  }

 private:
  bool fill() {
    arrays_.clear();
    tables_.clear();
    missing_.clear();
    for (std::size_t n = 1; n <= orders_.size(); ++n) missing_.push_back({n, {}});
    for (std::size_t n = 1; n <= orders_.size(); ++n) {
      allocate(n);
      const auto& columns = orders_[n - 1];
      for (std::size_t i = 0; i < columns.log10_prob.size(); ++i) {
        const float backoff = columns.log10_backoff.empty() ? 0 : columns.log10_backoff[i];
        if (!insert(columns.words.subspan(i * n, n), columns.log10_prob[i], backoff)) throw DuplicateNgram(n, i);
      }
      if (n < 2 || n == orders_.size()) continue;
      for (std::size_t i = 0; i < blanks_[n - 1].size(); ++i) insert_blank(blanks_[n - 1][i]);
    }
    return std::all_of(missing_.begin(), missing_.end(), [](const Blanks& blanks) { return blanks.words.empty(); });
  }

  void allocate(std::size_t n) {
    const bool highest = n == orders_.size();
    const std::size_t stride = highest ? 12 : 16;
    const std::size_t n_ngrams = orders_[n - 1].log10_prob.size() + (highest ? 0 : blanks_[n - 1].size());
    // One slot in four stays empty, at least one.
    const std::size_t n_slots = n == 1 ? n_words_ : n_ngrams + n_ngrams / 3 + 1;
    if (n_slots >= NgramTable::kNone || n_words_ >= ngram_key::kMaxWords)
      throw Error("too many n-grams of order " + std::to_string(n));
    arrays_.push_back({std::vector<std::uint8_t>(n_slots * stride, 0xff), stride, {}, {}});
    tables_.emplace_back(arrays_.back().view(), highest);
    if (n > 1) return;
    for (std::uint32_t word = 0; word < n_words_; ++word) {
      put_key(1, word, word | ngram_key::kBlank);
      put_values(1, word, kMissingLog10, 0);
    }
  }

  const NgramTable& table(std::size_t n) const { return tables_[n - 1]; }
  std::uint8_t* at(std::size_t n, std::uint32_t slot) { return arrays_[n - 1].bytes.data() + slot * arrays_[n - 1].stride; }
  void put_key(std::size_t n, std::uint32_t slot, std::uint64_t key) { std::memcpy(at(n, slot), &key, 8); }
  void put_values(std::size_t n, std::uint32_t slot, float prob, float backoff) {
    std::memcpy(at(n, slot) + 8, &prob, 4);
    if (n < orders_.size()) std::memcpy(at(n, slot) + 12, &backoff, 4);
  }
  void mark(std::size_t n, std::uint32_t slot, std::uint64_t flag) { put_key(n, slot, table(n).key(slot) | flag); }

  // The slot of an n-gram; where there is none, it is noted as missing.
  std::uint32_t need(Words ngram) {
    auto node = ngram.back();
    for (std::size_t n = 2; n <= ngram.size(); ++n) {
      node = table(n).find(node, ngram[ngram.size() - n]);
      if (node == NgramTable::kNone) {
        missing_[ngram.size() - 1].add(ngram);
        return node;
      }
    }
    return node;
  }

  // False if it was there before. An n-gram whose end is missing is left for the next round.
  bool insert(Words ngram, float prob, float backoff) {
    const auto n = ngram.size();
    const std::uint64_t flags = n < orders_.size() && backoff != 0 ? ngram_key::kExtendsRight : 0;
    if (n == 1) {
      if (!(table(1).key(ngram[0]) & ngram_key::kBlank)) return false;
      put_key(1, ngram[0], ngram[0] | flags);
      put_values(1, ngram[0], prob, backoff);
      return true;
    }
    const auto context = need(ngram.first(n - 1)), parent = need(ngram.last(n - 1));
    if (context == NgramTable::kNone || parent == NgramTable::kNone) return true;
    mark(n - 1, context, ngram_key::kExtendsRight);
    mark(n - 1, parent, ngram_key::kExtendsLeft);
    const auto& here = table(n);
    const auto key = ngram_key::make(parent, ngram[0]);
    auto slot = ngram_key::home(key, here.n_slots());
    while (here.key(slot) != ngram_key::kEmpty) {
      if ((here.key(slot) & ~ngram_key::kFlags) == key) return false;
      if (++slot == here.n_slots()) slot = 0;
    }
    put_key(n, slot, key | flags);
    put_values(n, slot, prob, backoff);
    return true;
  }

  void insert_blank(Words ngram) {
    const auto n = ngram.size();
    const auto context = need(ngram.first(n - 1)), parent = need(ngram.last(n - 1));
    if (context == NgramTable::kNone || parent == NgramTable::kNone) return;
    const bool is_new = insert(ngram, table(n - 1).prob(parent) + table(n - 1).backoff(context), 0);
    // It is not new if it was only found missing because its own end was.
    if (is_new) mark(n, table(n).find(parent, ngram[0]), ngram_key::kBlank);
  }

  std::span<const NgramColumns> orders_;
  std::size_t n_words_;
  std::vector<Blanks> blanks_, missing_;  // [n - 1]: of order n
  std::vector<NgramArrays> arrays_;
  std::vector<NgramTable> tables_;  // views of the arrays
};

}  // namespace

std::vector<NgramArrays> build_ngram_tables(std::span<const NgramColumns> orders, std::size_t n_words) {
  if (orders.empty() || orders.size() > kMaxNgramOrder) throw Error("a language model needs an order from 1 to 6");
  return Builder(orders, n_words).build();
}

}  // namespace hyperbaton
