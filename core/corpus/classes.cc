#include "corpus/classes.hh"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/errors.hh"
#include "base/math.hh"

namespace hyperbaton {

namespace {

// Smaller gains are rounding noise, and could make words move back and forth for ever.
constexpr double kLeastGain = 1e-6;

// n log n, from a table for small counts.
class NLogN {
 public:
  static const NLogN& instance() {
    static const NLogN only;
    return only;
  }
  double operator()(std::int64_t n) const { return n < kSize ? table_[n] : compute(n); }

 private:
  static constexpr std::int64_t kSize = 1 << 18;
  static double compute(std::int64_t n) { return static_cast<double>(n) * math::log(static_cast<double>(n)); }
  NLogN() : table_(kSize) {
    for (std::int64_t n = 1; n < kSize; ++n) table_[n] = compute(n);
  }
  std::vector<double> table_;
};

// How often each class occurs before and after a word; the word itself as neighbour is counted separately.
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
  std::vector<ClassId> classes_before, classes_after;  // the classes whose counts are not zero
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

// Rows of counts, each stored with its n log n (called entropy here).
class Cells {
 public:
  Cells(std::size_t n_rows, std::size_t width)
      : width_(width), counts_(n_rows * width), entropies_(n_rows * width), steps_(n_rows * width) {}

  std::int64_t count(std::size_t row, ClassId c) const { return counts_[row * width_ + c]; }
  // The change of entropy if the count changes.
  double change(std::size_t row, ClassId c, std::int64_t by) const {
    const auto at = row * width_ + c;
    return by == 0 ? 0 : n_log_n_(counts_[at] + by) - entropies_[at];
  }

  void add(std::size_t row, ClassId c, std::int64_t n) {
    const auto at = row * width_ + c;
    counts_[at] += n;
    entropies_[at] = n_log_n_(counts_[at]);
    steps_[at] = n_log_n_(counts_[at] + 1) - entropies_[at];
  }

  // sums[c] += weight * change(row, c, by) for all c of the row.
  void add_changes(std::size_t row, std::int64_t by, double weight, std::vector<double>& sums) const {
    const auto start = row * width_;
    const auto* counts = counts_.data() + start;
    const auto *entropies = entropies_.data() + start, *steps = steps_.data() + start;
    if (by == 1) {
      for (std::size_t c = 0; c < width_; ++c) sums[c] += weight * steps[c];
    } else {
      for (std::size_t c = 0; c < width_; ++c) sums[c] += weight * (n_log_n_(counts[c] + by) - entropies[c]);
    }
  }

  double total_entropy() const { return std::accumulate(entropies_.begin(), entropies_.end(), 0.0); }

 private:
  const NLogN& n_log_n_ = NLogN::instance();
  std::size_t width_;
  std::vector<std::int64_t> counts_;
  std::vector<double> entropies_;
  std::vector<double> steps_;  // change of entropy for one more count: most neighbours of most words occur once
};

// Class counts, always exact. Class 0 is the boundary, 1 ... n are word classes.
class ClassCounts {
 public:
  ClassCounts(const WordBigrams& bigrams, std::span<const ClassId> class_of, std::size_t n_classes)
      : width_(n_classes + 1), forward_(width_, width_), backward_(width_, width_), unigrams_(1, width_) {
    for (WordId word = 0; word <= bigrams.n_words(); ++word) {
      unigrams_.add(0, class_of[word], bigrams.count(word));
      for (const auto& [other, n] : bigrams.after(word)) add(class_of[word], class_of[other], n);
    }
  }

  std::size_t width() const { return width_; }
  std::int64_t unigram(ClassId g) const { return unigrams_.count(0, g); }
  double criterion() const { return forward_.total_entropy() - 2 * unigrams_.total_entropy(); }

  // gains[c]: the gain of the criterion if the word moves from its class to c; gains[0] and gains[from] are undefined.
  void gains(const Context& word, ClassId from, std::vector<double>& gains) const {
    gains.assign(width_, gain_of_leaving(word, from));
    // First compute all classes at once as if no neighbour were of class `from` or c ...
    for (const auto g : word.classes_before)
      if (g != from) forward_.add_changes(g, word.before[g], 1, gains);
    for (const auto g : word.classes_after)
      if (g != from) backward_.add_changes(g, word.after[g], 1, gains);
    unigrams_.add_changes(0, word.count, -2, gains);
    // ... then correct the cells shared by `from` and c.
    for (std::size_t c = 1; c < width_; ++c)
      if (c != from) gains[c] += correction(word, from, static_cast<ClassId>(c));
  }

  // The gain for a single class.
  double gain(const Context& word, ClassId from, ClassId to) const {
    double sum = gain_of_leaving(word, from);
    for (const auto g : word.classes_before)
      if (g != from) sum += forward_.change(g, to, word.before[g]);
    for (const auto g : word.classes_after)
      if (g != from) sum += backward_.change(g, to, word.after[g]);
    return sum - 2 * unigrams_.change(0, to, word.count) + correction(word, from, to);
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
    add(from, from, -word.self);
    add(to, to, word.self);
    unigrams_.add(0, from, -word.count);
    unigrams_.add(0, to, word.count);
  }

 private:
  void add(ClassId left, ClassId right, std::int64_t n) {
    forward_.add(left, right, n);
    backward_.add(right, left, n);
  }

  // Change of the unigrams of `from`, and of the cells (g, from) and (from, g) for g other than `from`.
  double gain_of_leaving(const Context& word, ClassId from) const {
    double sum = -2 * unigrams_.change(0, from, -word.count);
    for (const auto g : word.classes_before)
      if (g != from) sum += forward_.change(g, from, -word.before[g]);
    for (const auto g : word.classes_after)
      if (g != from) sum += backward_.change(g, from, -word.after[g]);
    return sum;
  }

  // Correct the sums over g for the cells between `from` and `to`.
  double correction(const Context& word, ClassId from, ClassId to) const {
    const auto before = word.before[to], after = word.after[to];
    const auto before_from = word.before[from], after_from = word.after[from];
    if (before == 0 && after == 0 && before_from == 0 && after_from == 0 && word.self == 0) return 0;
    const double counted = forward_.change(to, from, -before) + forward_.change(from, to, -after) +
                           forward_.change(to, to, before) + forward_.change(to, to, after);
    const double real = forward_.change(from, from, -before_from - after_from - word.self) +
                        forward_.change(from, to, before_from - after) + forward_.change(to, from, after_from - before) +
                        forward_.change(to, to, before + after + word.self);
    return real - counted;
  }

  std::size_t width_;
  Cells forward_, backward_;  // N(g, h) in row g, and in row h
  Cells unigrams_;            // one row
};

std::vector<WordId> by_falling_count(const WordBigrams& bigrams) {
  std::vector<WordId> order;
  for (WordId word = 0; word < bigrams.n_words(); ++word)
    if (bigrams.count(word) > 0) order.push_back(word);
  std::stable_sort(order.begin(), order.end(), [&](WordId a, WordId b) { return bigrams.count(a) > bigrams.count(b); });
  return order;
}

// Final class numbers: by decreasing frequency, empty classes last.
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

WordBigrams::WordBigrams(TokensView text, std::size_t n_words, unsigned n_threads)
    : n_words_(n_words), counts_(n_words + 1) {
  const auto [tokens, offsets] = text;
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
  if (!are_offsets(offsets, tokens.size())) throw Error("sentence offsets do not match the tokens");
  for (const auto word : tokens)
    if (word >= n_words) throw Error("token " + std::to_string(word) + " is not in the vocabulary");

  // Every word occurrence and every boundary is the left side of one bigram: collect rows of followers, then sort and
  // merge each.
  each_bigram([&](WordId left, WordId) { ++counts_[left]; });
  std::vector<std::int64_t> starts(counts_.begin(), counts_.end());
  starts.push_back(0);
  const auto n_bigrams = exclusive_sum(starts);
  std::vector<WordId> followers(to_size(n_bigrams));
  {
    std::vector<std::int64_t> at(starts.begin(), starts.end() - 1);
    each_bigram([&](WordId left, WordId right) { followers[at[left]++] = right; });
  }
  std::vector<std::int64_t> n_after(n_words + 2), n_before(n_words + 2);
  parallel_chunks(n_words + 1, 256, n_threads, {}, [&](std::size_t begin, std::size_t end) {
    for (std::size_t word = begin; word < end; ++word) {
      const auto first = followers.begin() + starts[word], last = followers.begin() + starts[word + 1];
      std::sort(first, last);
      for (auto it = first; it != last; it = std::upper_bound(it, last, *it)) ++n_after[word];
    }
  });
  exclusive_sum(n_after);
  after_.offsets = std::move(n_after);
  after_.neighbours.resize(to_size(after_.offsets.back()));
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
  if (initial.size() != bigrams.n_words()) throw Error("there must be one initial class for each word");
  if (options.batch_size == 0) throw Error("a batch must contain at least one word");
  // Internally, the boundary is class 0 and words have 1 ... n_classes.
  constexpr ClassId shift = kFirstClass - 1;
  std::vector<ClassId> class_of(bigrams.n_words() + 1, kBoundaryClass);
  for (std::size_t word = 0; word < initial.size(); ++word) {
    if (initial[word] < kFirstClass || initial[word] >= kFirstClass + options.n_classes)
      throw Error("initial class " + std::to_string(initial[word]) + " is out of range");
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
      parallel_chunks(batch.size(), 16, options.n_threads, {}, [&](std::size_t begin, std::size_t end) {
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
