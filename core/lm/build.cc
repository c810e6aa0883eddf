#include "lm/build.hh"

#include <algorithm>
#include <array>
#include <optional>
#include <string>

namespace hyperbaton {

namespace {

using Words = std::span<const WordId>;

// The distinct n-grams that must be added to one order, concatenated.
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

// Finds the slots of n-grams, starting from the common part with the previous one: lists are mostly sorted.
class Finder {
 public:
  explicit Finder(std::span<const NgramTable> tables) : tables_(tables) {}
  // kNone if there is no such n-gram.
  std::uint32_t find(Words ngram) {
    std::size_t n = 0;
    while (n < n_known_ && n < ngram.size() && words_[n] == ngram[ngram.size() - 1 - n]) ++n;
    for (n_known_ = n; n < ngram.size(); n_known_ = ++n) {
      const auto word = ngram[ngram.size() - 1 - n];
      NgramHash hash = n == 0 ? NgramHash(word) : hashes_[n - 1];
      auto slot = word;
      if (n > 0) {
        hash.extend(word);
        slot = tables_[n].find(slots_[n - 1], word, hash.home(tables_[n].n_slots()));
        if (slot == NgramTable::kNone) return slot;
      }
      words_[n] = word;
      hashes_[n] = hash;
      slots_[n] = slot;
    }
    return slots_[n - 1];
  }
  // Prefetch for find().
  void prefetch(Words ngram) const {
    NgramHash hash(ngram.back());
    for (std::size_t n = 1; n < ngram.size(); ++n) {
      hash.extend(ngram[ngram.size() - 1 - n]);
      tables_[n].prefetch(hash.home(tables_[n].n_slots()));
    }
  }

 private:
  std::span<const NgramTable> tables_;
  std::size_t n_known_ = 0;
  std::array<WordId, kMaxNgramOrder> words_;
  std::vector<NgramHash> hashes_ = std::vector<NgramHash>(kMaxNgramOrder, NgramHash(0));
  std::array<std::uint32_t, kMaxNgramOrder> slots_;
};

class Builder {
 public:
  Builder(std::span<const NgramColumns> orders, std::size_t n_words, unsigned n_threads, const Progress& progress)
      : orders_(orders), n_words_(n_words), n_threads_(n_threads), progress_(progress) {
    for (std::size_t n = 1; n < orders.size(); ++n) blanks_.push_back({n, {}});
    for (std::size_t n = 1; n <= orders.size(); ++n) {
      const auto& columns = orders[n - 1];
      const auto size = columns.log10_prob.size();
      const bool has_backoff = !columns.log10_backoff.empty();
      if (columns.words.size() != n * size || (has_backoff && columns.log10_backoff.size() != size))
        throw Error("the columns of the n-grams of order " + std::to_string(n) + " do not match");
      if (std::any_of(columns.words.begin(), columns.words.end(), [&](WordId word) { return word >= n_words; }))
        throw Error("n-grams contain words that are not in the vocabulary");
      if (n > 1 && !columns.context.empty()) {
        const auto n_below = orders[n - 2].log10_prob.size();
        const auto wrong = [&](std::uint32_t number) { return number >= n_below; };
        if (columns.context.size() != size || columns.parent.size() != size || (n > 2 && orders[n - 2].context.empty()) ||
            std::any_of(columns.context.begin(), columns.context.end(), wrong) ||
            std::any_of(columns.parent.begin(), columns.parent.end(), wrong))
          throw Error("the links of the n-grams of order " + std::to_string(n) + " do not match the order below");
      }
    }
  }

  std::vector<NgramArrays> build() {
    // A blank may need further blanks, each shorter than the one that needs it.
    while (!fill()) {
      for (std::size_t n = 2; n < orders_.size(); ++n) {
        for (std::size_t i = 0; i < missing_[n - 1].size(); ++i) blanks_[n - 1].add(missing_[n - 1][i]);
        blanks_[n - 1].unify();
      }
    }
    return std::move(arrays_);
  }

 private:
  static constexpr std::size_t kAhead = 8;  // prefetch distance in n-grams

  // The two nodes that a new one is attached to: its words without the newest one, and without the oldest one.
  struct Ends {
    std::uint32_t context, parent, home;  // and where the probe for the new one starts
    bool exist() const { return context != NgramTable::kNone && parent != NgramTable::kNone; }
  };

  // False if n-grams were missing; then some are not in the tables.
  bool fill() {
    arrays_.clear();
    tables_.clear();
    missing_.clear();
    for (std::size_t n = 1; n <= orders_.size(); ++n) missing_.push_back({n, {}});
    allocate(1);
    for (std::size_t i = 0; i < orders_[0].log10_prob.size(); ++i)
      if (!insert_word(orders_[0].words[i], orders_[0].log10_prob[i], backoff(1, i))) throw DuplicateNgram(1, i);
    slots_.assign(orders_[0].words.begin(), orders_[0].words.end());
    for (std::size_t n = 2; n <= orders_.size(); ++n) {
      allocate(n);
      insert_all(n);
      if (n < orders_.size())
        for (std::size_t i = 0; i < blanks_[n - 1].size(); ++i) insert_blank(blanks_[n - 1][i]);
    }
    return std::all_of(missing_.begin(), missing_.end(), [](const Blanks& blanks) { return blanks.words.empty(); });
  }

  // Finding the ends takes nearly all the time, and only reads the orders below.
  void insert_all(std::size_t n) {
    constexpr std::size_t segment = 1 << 20, chunk = 1 << 14;
    const auto& columns = orders_[n - 1];
    const auto size = columns.log10_prob.size();
    const bool linked = !columns.context.empty();
    std::vector<Ends> ends(std::min(segment, size));
    std::vector<std::uint32_t> slots(n < orders_.size() && !orders_[n].context.empty() ? size : 0);
    for (std::size_t first = 0; first < size; first += segment) {
      const auto here = std::min(segment, size - first);
      parallel_chunks(here, chunk, n_threads_, progress_, [&](std::size_t begin, std::size_t end) {
        if (linked) {
          for (std::size_t i = first + begin; i < first + end; ++i)
            ends[i - first] = {
                .context = slots_[columns.context[i]], .parent = slots_[columns.parent[i]], .home = home(ngram(n, i))};
          return;
        }
        Finder contexts(tables_), parents(tables_);
        for (std::size_t i = begin; i < end; ++i) {
          if (i + kAhead < end) {
            const auto next = ngram(n, first + i + kAhead);
            contexts.prefetch(next.first(n - 1));
            parents.prefetch(next.last(n - 1));
          }
          ends[i] = find_ends(ngram(n, first + i), contexts, parents);
        }
      });
      for (std::size_t i = 0; i < here; ++i) {
        if (i + kAhead < here) {
          const auto& next = ends[i + kAhead];
          table(n).prefetch(next.home);
          if (next.exist()) {
            table(n - 1).prefetch(next.context);
            table(n - 1).prefetch(next.parent);
          }
        }
        const auto at = first + i;
        const auto slot = insert(ngram(n, at), ends[i], columns.log10_prob[at], backoff(n, at));
        if (!slot) throw DuplicateNgram(n, at);
        if (!slots.empty()) slots[at] = *slot;
      }
    }
    slots_ = std::move(slots);
  }

  // Where the probe for an n-gram starts.
  std::uint32_t home(Words ngram) const {
    const auto n = ngram.size();
    NgramHash hash(ngram.back());
    for (std::size_t k = 2; k <= n; ++k) hash.extend(ngram[n - k]);
    return hash.home(table(n).n_slots());
  }

  Ends find_ends(Words ngram, Finder& contexts, Finder& parents) const {
    const auto n = ngram.size();
    return {.context = contexts.find(ngram.first(n - 1)), .parent = parents.find(ngram.last(n - 1)), .home = home(ngram)};
  }

  Words ngram(std::size_t n, std::size_t i) const { return orders_[n - 1].words.subspan(i * n, n); }
  float backoff(std::size_t n, std::size_t i) const {
    return orders_[n - 1].log10_backoff.empty() ? 0 : orders_[n - 1].log10_backoff[i];
  }

  void allocate(std::size_t n) {
    const bool highest = n == orders_.size();
    const std::size_t stride = highest ? 12 : 16;
    const std::size_t n_ngrams = orders_[n - 1].log10_prob.size() + (highest ? 0 : blanks_[n - 1].size());
    // One slot in three stays empty, at least one.
    const std::size_t n_slots = n == 1 ? n_words_ : n_ngrams + n_ngrams / 2 + 1;
    if (n_slots >= NgramTable::kNone || n_words_ >= ngram_key::kMaxWords)
      throw Error("too many n-grams of order " + std::to_string(n));
    arrays_.push_back({.bytes = std::vector<std::uint8_t>(n_slots * stride, 0xff),
                       .stride = stride,
                       .prob_bins = {},
                       .backoff_bins = {}});
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

  std::uint64_t flags(std::size_t n, float backoff) const {
    return n < orders_.size() && backoff != 0 ? ngram_key::kExtendsRight : 0;
  }

  // False if it already exists.
  bool insert_word(WordId word, float prob, float backoff) {
    if (!(table(1).key(word) & ngram_key::kBlank)) return false;
    put_key(1, word, word | flags(1, backoff));
    put_values(1, word, prob, backoff);
    return true;
  }

  // Its slot; none if it already exists. An n-gram with a missing end is left for the next round.
  std::optional<std::uint32_t> insert(Words ngram, const Ends& ends, float prob, float backoff) {
    const auto n = ngram.size();
    if (ends.context == NgramTable::kNone) missing_[n - 2].add(ngram.first(n - 1));
    if (ends.parent == NgramTable::kNone) missing_[n - 2].add(ngram.last(n - 1));
    if (!ends.exist()) return NgramTable::kNone;
    mark(n - 1, ends.context, ngram_key::kExtendsRight);
    mark(n - 1, ends.parent, ngram_key::kExtendsLeft);
    const auto& here = table(n);
    const auto key = ngram_key::make(ends.parent, ngram[0]);
    auto slot = ends.home;
    while (here.key(slot) != ngram_key::kEmpty) {
      if ((here.key(slot) & ~ngram_key::kFlags) == key) return std::nullopt;
      if (++slot == here.n_slots()) slot = 0;
    }
    put_key(n, slot, key | flags(n, backoff));
    put_values(n, slot, prob, backoff);
    return slot;
  }

  void insert_blank(Words ngram) {
    const auto n = ngram.size();
    Finder contexts(tables_), parents(tables_);
    const auto ends = find_ends(ngram, contexts, parents);
    const float prob = ends.exist() ? table(n - 1).prob(ends.parent) + table(n - 1).backoff(ends.context) : 0;
    // It is not new if it was missing only because its own end was.
    const auto slot = insert(ngram, ends, prob, 0);
    if (ends.exist() && slot) mark(n, *slot, ngram_key::kBlank);
  }

  std::span<const NgramColumns> orders_;
  std::size_t n_words_;
  unsigned n_threads_;
  const Progress& progress_;
  std::vector<Blanks> blanks_, missing_;  // [n - 1]: of order n
  std::vector<NgramArrays> arrays_;
  std::vector<NgramTable> tables_;    // views of the arrays
  std::vector<std::uint32_t> slots_;  // of the order filled last, where links need them
};

}  // namespace

std::vector<NgramArrays> build_ngram_tables(std::span<const NgramColumns> orders, std::size_t n_words, unsigned n_threads,
                                            const Progress& progress) {
  if (orders.empty() || orders.size() > kMaxNgramOrder)
    throw Error("a language model needs an order from 1 to " + std::to_string(kMaxNgramOrder));
  return Builder(orders, n_words, n_threads, progress).build();
}

}  // namespace hyperbaton
