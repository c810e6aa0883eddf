#include "corpus/classes.hh"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/errors.hh"

namespace hyperbaton {

namespace {

// Smaller gains are rounding noise, and would let words wander for ever.
constexpr double kLeastGain = 1e-6;

// n log n, from a table that fits the second-level cache where counts allow.
class Entropy {
 public:
  Entropy() : table_(kSize) {
    for (std::int64_t n = 1; n < kSize; ++n) table_[n] = static_cast<double>(n) * std::log(static_cast<double>(n));
  }
  double operator()(std::int64_t n) const {
    return n < kSize ? table_[n] : static_cast<double>(n) * std::log(static_cast<double>(n));
  }

 private:
  static constexpr std::int64_t kSize = 1 << 15;
  std::vector<double> table_;
};

const Entropy& entropy() {
  static const Entropy instance;
  return instance;
}

// How often a word has a member of each class before and after it; itself as neighbour is counted apart.
struct Context {
  explicit Context(std::size_t n_classes) : before(n_classes), after(n_classes) {}

  void collect(const WordBigrams& bigrams, std::span<const ClassId> class_of, WordId word) {
    clear(before, classes_before);
    clear(after, classes_after);
    self = 0;
    count = bigrams.count(word);
    for (const auto& [other, n] : bigrams.before(word))
      if (other != word) add(before, classes_before, class_of[other], n);
    for (const auto& [other, n] : bigrams.after(word)) {
      if (other == word)
        self = n;
      else
        add(after, classes_after, class_of[other], n);
    }
  }

  std::vector<std::int64_t> before, after;             // by class
  std::vector<ClassId> classes_before, classes_after;  // where those are not zero
  std::int64_t self = 0, count = 0;

 private:
  static void clear(std::vector<std::int64_t>& counts, std::vector<ClassId>& classes) {
    for (const auto g : classes) counts[g] = 0;
    classes.clear();
  }
  static void add(std::vector<std::int64_t>& counts, std::vector<ClassId>& classes, ClassId g, std::int64_t n) {
    if (counts[g] == 0) classes.push_back(g);
    counts[g] += n;
  }
};

// Class counts, exact at all times, with their n log n beside them. Class 0 is the boundary, 1 ... n the words' own.
class ClassCounts {
 public:
  ClassCounts(const WordBigrams& bigrams, std::span<const ClassId> class_of, std::size_t n_classes)
      : width_(n_classes + 1), forward_(width_), backward_(width_), unigrams_(width_) {
    for (WordId word = 0; word <= bigrams.n_words(); ++word) {
      unigrams_[class_of[word]] += bigrams.count(word);
      for (const auto& [other, n] : bigrams.after(word)) add(class_of[word], class_of[other], n);
    }
  }

  std::size_t width() const { return width_; }
  std::int64_t unigram(ClassId g) const { return unigrams_[g]; }

  double criterion() const {
    double sum = 0;
    for (const auto n : forward_.counts) sum += entropy()(n);
    for (const auto n : unigrams_) sum -= 2 * entropy()(n);
    return sum;
  }

  // gains[c]: what the criterion gains if the word moves from its class to c; gains[0] and gains[from] mean nothing.
  void gains(const Context& word, ClassId from, std::vector<double>& gains) const {
    const auto& h = entropy();
    gains.assign(width_, loss_of_leaving(word, from));
    // All classes at once as if no neighbour were of class `from` or c: rows are contiguous in c ...
    for (const auto g : word.classes_before) add_row(forward_, g, from, word.before[g], gains);
    for (const auto g : word.classes_after) add_row(backward_, g, from, word.after[g], gains);
    // ... then the cells that `from` and c share are put right.
    const auto n_from = unigrams_[from];
    const double unigram_loss = h(n_from - word.count) - h(n_from);
    for (std::size_t to = 1; to < width_; ++to) {
      const auto c = static_cast<ClassId>(to);
      if (c != from)
        gains[c] += correction(word, from, c) - 2 * (unigram_loss + h(unigrams_[c] + word.count) - h(unigrams_[c]));
    }
  }

  // The same for one class.
  double gain(const Context& word, ClassId from, ClassId to) const {
    const auto& h = entropy();
    double sum = loss_of_leaving(word, from);
    for (const auto g : word.classes_before)
      if (g != from) sum += h(forward_.count(g, to) + word.before[g]) - forward_.entropy(g, to);
    for (const auto g : word.classes_after)
      if (g != from) sum += h(backward_.count(g, to) + word.after[g]) - backward_.entropy(g, to);
    const auto n_from = unigrams_[from], n_to = unigrams_[to];
    return sum + correction(word, from, to) - 2 * (h(n_from - word.count) - h(n_from) + h(n_to + word.count) - h(n_to));
  }

  void move(const Context& word, ClassId from, ClassId to) {
    for (const auto g : word.classes_before) {
      add(g, from, -word.before[g]);
      add(g, to, word.before[g]);
    }
    for (const auto g : word.classes_after) {
      add(from, g, -word.after[g]);
      add(to, g, word.after[g]);
    }
    if (word.self != 0) {
      add(from, from, -word.self);
      add(to, to, word.self);
    }
    unigrams_[from] -= word.count;
    unigrams_[to] += word.count;
  }

 private:
  struct Matrix {
    explicit Matrix(std::size_t size) : width(size), counts(size * size), entropies(size * size) {}
    std::int64_t count(ClassId g, ClassId c) const { return counts[g * width + c]; }
    double entropy(ClassId g, ClassId c) const { return entropies[g * width + c]; }
    std::size_t width;
    std::vector<std::int64_t> counts;
    std::vector<double> entropies;
  };

  void add(ClassId left, ClassId right, std::int64_t n) {
    const auto total = forward_.counts[left * width_ + right] += n;
    backward_.counts[right * width_ + left] = total;
    forward_.entropies[left * width_ + right] = backward_.entropies[right * width_ + left] = entropy()(total);
  }

  static void add_row(const Matrix& matrix, ClassId g, ClassId from, std::int64_t n, std::vector<double>& gains) {
    if (g == from) return;
    const auto& h = entropy();
    const auto* counts = matrix.counts.data() + g * matrix.width;
    const auto* entropies = matrix.entropies.data() + g * matrix.width;
    for (std::size_t c = 1; c < matrix.width; ++c) gains[c] += h(counts[c] + n) - entropies[c];
  }

  // Cells (g, from) and (from, g) for g other than `from`.
  double loss_of_leaving(const Context& word, ClassId from) const {
    const auto& h = entropy();
    double sum = 0;
    for (const auto g : word.classes_before)
      if (g != from) sum += h(forward_.count(g, from) - word.before[g]) - forward_.entropy(g, from);
    for (const auto g : word.classes_after)
      if (g != from) sum += h(backward_.count(g, from) - word.after[g]) - backward_.entropy(g, from);
    return sum;
  }

  // Replace what the sums over g say of the cells between `from` and `to` by what really happens to them.
  double correction(const Context& word, ClassId from, ClassId to) const {
    const auto& h = entropy();
    const auto before = word.before[to], after = word.after[to];
    const auto from_to = forward_.count(from, to), to_from = forward_.count(to, from);
    const auto from_from = forward_.count(from, from), to_to = forward_.count(to, to);
    const double counted = h(to_from - before) + h(from_to - after) + h(to_to + before) + h(to_to + after) - h(to_to);
    const double real = h(from_from - word.before[from] - word.after[from] - word.self) - h(from_from) +
                        h(from_to - after + word.before[from]) + h(to_from - before + word.after[from]) +
                        h(to_to + before + after + word.self);
    return real - counted;
  }

  std::size_t width_;
  Matrix forward_, backward_;  // N(g, c) at row g and at row c
  std::vector<std::int64_t> unigrams_;
};

std::vector<WordId> by_falling_count(const WordBigrams& bigrams) {
  std::vector<WordId> order;
  for (WordId word = 0; word < bigrams.n_words(); ++word)
    if (bigrams.count(word) > 0) order.push_back(word);
  std::stable_sort(order.begin(), order.end(), [&](WordId a, WordId b) { return bigrams.count(a) > bigrams.count(b); });
  return order;
}

// Class numbers as people see them: by falling frequency, empty classes last.
std::vector<ClassId> final_numbers(const ClassCounts& counts) {
  std::vector<ClassId> classes(counts.width() - 1);
  std::iota(classes.begin(), classes.end(), ClassId{1});
  std::stable_sort(classes.begin(), classes.end(),
                   [&](ClassId a, ClassId b) { return counts.unigram(a) > counts.unigram(b); });
  std::vector<ClassId> numbers(counts.width(), kBoundaryClass);
  for (std::size_t i = 0; i < classes.size(); ++i) numbers[classes[i]] = static_cast<ClassId>(kFirstClass + i);
  return numbers;
}

}  // namespace

WordBigrams::WordBigrams(std::span<const WordId> tokens, std::span<const std::int64_t> offsets, std::size_t n_words,
                         unsigned n_threads)
    : n_words_(n_words), counts_(n_words + 1) {
  const auto boundary = static_cast<WordId>(n_words);
  const auto each_bigram = [&](const auto& visit) {
    for (std::size_t s = 0; s + 1 < offsets.size(); ++s) {
      if (offsets[s] == offsets[s + 1]) continue;
      WordId left = boundary;
      for (auto i = offsets[s]; i < offsets[s + 1]; ++i) {
        visit(left, tokens[i]);
        left = tokens[i];
      }
      visit(left, boundary);
    }
  };
  if (offsets.empty() || offsets.front() != 0 || offsets.back() != static_cast<std::int64_t>(tokens.size()))
    throw Error("sentence offsets do not fit the tokens");
  for (const auto word : tokens)
    if (word >= n_words) throw Error("token " + std::to_string(word) + " is not in the vocabulary");

  // Every word occurrence, and every boundary, stands left in one bigram: rows of followers, then sort and merge each.
  each_bigram([&](WordId left, WordId) { ++counts_[left]; });
  std::vector<std::int64_t> starts(counts_.begin(), counts_.end());
  starts.push_back(0);
  const auto n_bigrams = exclusive_sum(starts);
  std::vector<WordId> followers(static_cast<std::size_t>(n_bigrams));
  {
    std::vector<std::int64_t> at(starts.begin(), starts.end() - 1);
    each_bigram([&](WordId left, WordId right) { followers[at[left]++] = right; });
  }
  std::vector<std::int64_t> n_after(n_words + 2), n_before(n_words + 2);
  parallel_blocks(n_words + 1, 256, n_threads, {}, [&](std::size_t begin, std::size_t end) {
    for (std::size_t word = begin; word < end; ++word) {
      const auto first = followers.begin() + starts[word], last = followers.begin() + starts[word + 1];
      std::sort(first, last);
      for (auto it = first; it != last; it = std::upper_bound(it, last, *it)) ++n_after[word];
    }
  });
  exclusive_sum(n_after);
  after_.offsets = std::move(n_after);
  after_.neighbours.resize(static_cast<std::size_t>(after_.offsets.back()));
  for (WordId word = 0; word <= n_words; ++word) {
    auto out = after_.neighbours.begin() + after_.offsets[word];
    const auto last = followers.begin() + starts[word + 1];
    for (auto it = followers.begin() + starts[word]; it != last; ++out) {
      const auto next = std::upper_bound(it, last, *it);
      *out = {*it, static_cast<std::uint32_t>(next - it)};
      ++n_before[*it];
      it = next;
    }
  }
  exclusive_sum(n_before);
  before_.offsets = std::move(n_before);
  before_.neighbours.resize(after_.neighbours.size());
  std::vector<std::int64_t> at(before_.offsets.begin(), before_.offsets.end() - 1);
  for (WordId word = 0; word <= n_words; ++word)
    for (const auto& [other, n] : after(word)) before_.neighbours[at[other]++] = {word, n};
}

Classes exchange(const WordBigrams& bigrams, std::span<const ClassId> initial, const ExchangeOptions& options,
                 const Progress& progress) {
  if (initial.size() != bigrams.n_words()) throw Error("the first classes must be one for each word");
  if (options.batch_size == 0) throw Error("a batch must hold at least one word");
  // Inside, the boundary is class 0 and words have 1 ... n_classes.
  constexpr ClassId shift = kFirstClass - 1;
  std::vector<ClassId> class_of(bigrams.n_words() + 1, kBoundaryClass);
  for (std::size_t word = 0; word < initial.size(); ++word) {
    if (initial[word] < kFirstClass || initial[word] >= kFirstClass + options.n_classes)
      throw Error("first class " + std::to_string(initial[word]) + " is out of range");
    class_of[word] = initial[word] - shift;
  }
  const auto order = by_falling_count(bigrams);
  ClassCounts counts(bigrams, class_of, options.n_classes);
  std::vector<double> history{counts.criterion()};
  std::vector<ClassId> wanted(options.batch_size);
  Context context(counts.width());
  const std::size_t total = options.max_sweeps * order.size();

  for (std::size_t sweep = 0; sweep < options.max_sweeps && options.n_classes > 1 && !order.empty(); ++sweep) {
    std::size_t n_moves = 0;
    for (std::size_t start = 0; start < order.size(); start += options.batch_size) {
      const std::span batch(order.data() + start, std::min(options.batch_size, order.size() - start));
      parallel_blocks(batch.size(), 16, options.n_threads, {}, [&](std::size_t begin, std::size_t end) {
        Context own(counts.width());
        std::vector<double> gains;
        for (std::size_t i = begin; i < end; ++i) {
          const ClassId from = class_of[batch[i]];
          own.collect(bigrams, class_of, batch[i]);
          counts.gains(own, from, gains);
          gains[kBoundaryClass] = gains[from] = 0;
          const auto best = std::max_element(gains.begin(), gains.end());
          wanted[i] = *best > kLeastGain ? static_cast<ClassId>(best - gains.begin()) : from;
        }
      });
      for (std::size_t i = 0; i < batch.size(); ++i) {
        const ClassId from = class_of[batch[i]];
        if (wanted[i] == from) continue;
        context.collect(bigrams, class_of, batch[i]);
        if (counts.gain(context, from, wanted[i]) <= kLeastGain) continue;
        counts.move(context, from, wanted[i]);
        class_of[batch[i]] = wanted[i];
        ++n_moves;
      }
      if (progress && !progress(sweep * order.size() + start + batch.size(), total)) throw Cancelled();
    }
    history.push_back(counts.criterion());
    if (n_moves == 0) break;
  }

  const auto numbers = final_numbers(counts);
  Classes result{std::vector<ClassId>(bigrams.n_words(), kBoundaryClass), std::move(history)};
  for (const auto word : order) result.of_word[word] = numbers[class_of[word]];
  return result;
}

}  // namespace hyperbaton
