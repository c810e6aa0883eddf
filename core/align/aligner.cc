#include "align/aligner.hh"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <limits>
#include <mutex>

#include "align/correction.hh"

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace hyperbaton {

namespace {

// Return freed memory to the system: GNU's allocator keeps what lies between blocks in use, which is a third of the memory
// of a training after one on stems.
void return_free_memory() {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

constexpr std::size_t kChunk = 128;            // sentence pairs per chunk of work
constexpr float kNegligiblePosterior = 1e-5f;  // posteriors below this are not added
constexpr std::size_t kJumpPairs = 4096;       // jumps, with few weights, are counted in about this many sentence pairs
constexpr std::array kBothDirections{kToTarget, kToSource};

// The frequencies of the generated words of one direction.
struct GeneratedWords {
  std::vector<double> frequency;       // relative
  std::vector<float> units_per_count;  // of Lexicon::Entry::count

  GeneratedWords(TokensView text, std::size_t n_words, const std::vector<std::uint8_t>& use)
      : frequency(n_words, 0), units_per_count(n_words) {
    double n_tokens = 0;
    for (std::size_t s = 0; s < use.size(); ++s)
      if (use[s])
        for (const auto word : text[s]) {
          ++frequency[word];
          ++n_tokens;
        }
    for (std::size_t word = 0; word < n_words; ++word) {
      // A word's expected counts sum to no more than its occurrences, so 32 bits of these units cannot overflow.
      units_per_count[word] = static_cast<float>(1u << 31) / static_cast<float>(frequency[word] + 1);
      frequency[word] /= std::max(n_tokens, 1.0);
    }
  }
};

// Properties of the corpus, by Direction.
struct CountScale {
  std::array<std::vector<float>, 2> units_per_count;  // of links, by generated word
  std::array<int, 2> max_states;                      // length of the longest generating sentence
};

// Counts of one round other than the link counts, which are stored in the lexicon.
struct Tally {
  std::array<std::vector<std::uint64_t>, 2> nulls;  // by Direction, then generated word
  std::array<JumpCounts, 2> jumps;
  std::vector<std::array<double, 2>> logprobs;  // log-probabilities of kChunk sentence pairs each

  explicit Tally(const CountScale& scale)
      : nulls{std::vector<std::uint64_t>(scale.units_per_count[kToTarget].size(), 0),
              std::vector<std::uint64_t>(scale.units_per_count[kToSource].size(), 0)},
        jumps{JumpCounts(scale.max_states[kToTarget]), JumpCounts(scale.max_states[kToSource])} {}
};

// Collects the expected counts of a corpus or of part of one.
class Expectation {
 public:
  Expectation(const AlignmentModel& model, const CountScale& scale, float freedom, bool chained)
      : model_(model), scale_(scale), freedom_(freedom), chained_(chained) {}

  void count(BitextView bitext, unsigned n_threads, const Progress& report, Tally& tally) const {
    const std::size_t stride = std::max<std::size_t>(1, bitext.n_sentences() / kJumpPairs);
    tally.logprobs.assign((bitext.n_sentences() + kChunk - 1) / kChunk, {0, 0});
    parallel_chunks(bitext.n_sentences(), kChunk, n_threads, report, [&](std::size_t begin, std::size_t end) {
      PairPosteriors pair;
      auto& logprob = tally.logprobs[begin / kChunk];
      for (std::size_t s = begin; s < end; ++s) {
        const auto source = bitext.source[s], target = bitext.target[s];
        if (!model_.fits(source, target)) continue;
        pair.run(model_, source, target, chained_);
        count_links(pair, source, target, tally);
        for (const auto direction : kBothDirections) {
          logprob[direction] += pair.logprob(direction);
          if (chained_ && s % stride == 0) pair.sums(direction).add_jumps(model_.jumps[direction], tally.jumps[direction]);
        }
      }
    });
  }

 private:
  void count_links(const PairPosteriors& pair, std::span<const WordId> source, std::span<const WordId> target,
                   Tally& tally) const {
    // Integer units: sums are exact, so they do not depend on the order of additions or the number of threads.
    const auto add = [](std::uint32_t& sum, float units) {
      const auto whole = static_cast<std::uint32_t>(units + 0.5f);
      sum += whole;
    };
    const float own = freedom_, shared = 1 - freedom_;
    std::vector<float> unclaimed;  // by generated word
    std::vector<float> units;      // by target word
    for (const auto word : target) units.push_back(scale_.units_per_count[kToTarget][word]);
    for (std::size_t i = 0; i < source.size(); ++i) {
      const float source_units = scale_.units_per_count[kToSource][source[i]];
      const std::lock_guard lock(row_locks_[source[i] % row_locks_.size()]);
      for (std::size_t j = 0; j < target.size(); ++j) {
        const float to_target = pair.to_target(i, j), to_source = pair.to_source(i, j);
        if (std::max(to_target, to_source) < kNegligiblePosterior) continue;
        auto& count = pair.entries()[i * target.size() + j]->count;
        add(count[kToTarget], to_target * (own + shared * to_source) * units[j]);
        add(count[kToSource], to_source * (own + shared * to_target) * source_units);
      }
    }
    for (const auto direction : kBothDirections) {
      const auto generated = direction == kToTarget ? target : source;
      const auto posterior = pair.sums(direction).null_posterior();
      // A null-aligned word should generate nothing in the other direction either.
      const auto claims = pair.sums(direction == kToTarget ? kToSource : kToTarget).posterior();
      unclaimed.assign(generated.size(), 1.0f);
      for (std::size_t row = 0; row < claims.size(); row += generated.size())
        for (std::size_t j = 0; j < generated.size(); ++j) unclaimed[j] *= 1 - claims[row + j];
      for (std::size_t j = 0; j < generated.size(); ++j)
        add_count(tally.nulls[direction][generated[j]], posterior[j] * (own + shared * unclaimed[j]));
    }
  }

  const AlignmentModel& model_;
  mutable std::array<std::mutex, 1024> row_locks_;  // of counts, by source word
  const CountScale& scale_;
  float freedom_;
  bool chained_;
};

}  // namespace

class AlignerTraining::Trainer {
 public:
  Trainer(BitextView bitext, std::size_t n_source_words, std::size_t n_target_words, const AlignerOptions& options,
          const AlignerPrior& prior, unsigned n_threads)
      : bitext_(bitext),
        options_(options),
        prior_(prior),
        n_threads_(n_threads),
        use_(usable(bitext, options.max_length)),
        words_{GeneratedWords(bitext.target, n_target_words, use_), GeneratedWords(bitext.source, n_source_words, use_)},
        model_{.lexicon = Lexicon(bitext, n_source_words, n_target_words, use_, n_threads),
               .null_emission = {},
               .jumps = {first_jumps(options, prior, kToTarget), first_jumps(options, prior, kToSource)},
               .null_probability = options.null_probability},
        scale_{{std::move(words_[kToTarget].units_per_count), std::move(words_[kToSource].units_per_count)},
               {longest(bitext.source), longest(bitext.target)}},
        tally_(scale_) {
    const auto uniform = [](std::size_t n_words) { return 1 / static_cast<float>(std::max<std::size_t>(n_words, 1)); };
    model_.null_emission[kToTarget].assign(n_target_words, uniform(n_target_words));
    model_.null_emission[kToSource].assign(n_source_words, uniform(n_source_words));
    for (WordId word = 0; word < n_source_words; ++word)
      for (auto& entry : model_.lexicon.row(word)) {
        entry.probability[kToTarget] = ShortProbability(uniform(n_target_words));
        entry.probability[kToSource] = ShortProbability(uniform(n_source_words));
      }
    prior_totals_ = {std::vector<double>(n_source_words, 0), std::vector<double>(n_target_words, 0)};
    if (!prior.starts.empty()) start_from_prior(n_source_words, n_target_words);
  }

  void count(bool chained, const Progress& progress) {
    Expectation(model_, scale_, options_.freedom, chained).count(bitext_, n_threads_, progress, tally_);
  }

  std::array<double, 2> renew(bool chained) {
    renew_lexicon(options_.smoothing);
    std::array<double, 2> sums{};
    for (const auto direction : kBothDirections) {
      renew_null(direction, tally_.nulls[direction]);
      if (chained) model_.jumps[direction].update(tally_.jumps[direction]);
      for (const auto& both : tally_.logprobs) sums[direction] += both[direction];
    }
    tally_ = Tally(scale_);
    return sums;
  }

  AlignmentModel take_model() { return std::move(model_); }

 private:
  static std::vector<std::uint8_t> usable(BitextView bitext, int max_length) {
    const auto fits = [&](std::size_t length) { return length > 0 && length <= to_size(max_length); };
    std::vector<std::uint8_t> use(bitext.n_sentences());
    for (std::size_t s = 0; s < use.size(); ++s) use[s] = fits(bitext.source[s].size()) && fits(bitext.target[s].size());
    return use;
  }

  int longest(TokensView text) const {
    std::size_t length = 1;
    for (std::size_t s = 0; s < use_.size(); ++s)
      if (use_[s]) length = std::max(length, text[s].size());
    return static_cast<int>(length);
  }

  static Jumps first_jumps(const AlignerOptions& options, const AlignerPrior& prior, Direction direction) {
    const auto weights = prior.jumps[direction];
    return weights.empty() ? Jumps(options.max_length) : Jumps(options.max_length, weights);
  }

  // Call visit(target word, counts by Direction) for the pairs of a source word that have prior counts.
  template <class Visit>
  void for_each_prior(WordId source, const Visit& visit) const {
    if (prior_.starts.empty()) return;
    const auto from = to_size(prior_.starts[source]), to = to_size(prior_.starts[source + 1]);
    for (std::size_t k = from; k < to; ++k) visit(prior_.targets[k], prior_.counts.subspan(2 * k, 2));
  }

  void start_from_prior(std::size_t n_source_words, std::size_t n_target_words) {
    if (prior_.starts.size() != n_source_words + 1 || prior_.counts.size() != 2 * prior_.targets.size() ||
        prior_.starts.front() != 0 || prior_.starts.back() != static_cast<std::int64_t>(prior_.targets.size()) ||
        !std::ranges::is_sorted(prior_.starts) ||
        std::ranges::any_of(prior_.targets, [&](WordId word) { return word >= n_target_words; }))
      throw Error("the arrays of the prior do not match the texts");
    for (WordId word = 0; word < n_source_words; ++word)
      for_each_prior(word, [&](WordId target, std::span<const float> counts) {
        prior_totals_[kToTarget][word] += counts[kToTarget];
        prior_totals_[kToSource][target] += counts[kToSource];
      });
    // Words without prior counts start with the word frequencies, the null word included.
    renew_lexicon(std::max(options_.smoothing, 1.0f));
    for (const auto direction : kBothDirections)
      std::ranges::copy(words_[direction].frequency, model_.null_emission[direction].begin());
  }

  double count(Direction direction, std::uint32_t units, WordId word) const {
    return static_cast<double>(units) / scale_.units_per_count[direction][word];
  }

  // p(word | generator) = (count + prior count + smoothing * frequency) / (their sum over words), in both directions.
  void renew_lexicon(double smoothing) {
    auto& lexicon = model_.lexicon;
    const auto &targets = words_[kToTarget], &sources = words_[kToSource];
    const auto over = [&](double total) { return total + smoothing > 0 ? 1 / (total + smoothing) : 0; };
    std::vector<double> over_target(prior_totals_[kToSource]);
    for (WordId word = 0; word < sources.frequency.size(); ++word)
      for (const auto& entry : lexicon.row(word))
        if (entry.count[kToSource] != 0) over_target[entry.target] += count(kToSource, entry.count[kToSource], word);
    for (auto& total : over_target) total = over(total);
    constexpr std::size_t chunk = 64;
    parallel_chunks(sources.frequency.size(), chunk, n_threads_, {}, [&](std::size_t begin, std::size_t end) {
      for (auto word = static_cast<WordId>(begin); word < end; ++word) {
        double total = prior_totals_[kToTarget][word];
        const auto row = lexicon.row(word);
        for (const auto& entry : row)
          if (entry.count[kToTarget] != 0) total += count(kToTarget, entry.count[kToTarget], entry.target);
        const double over_source = over(total);
        for (auto& entry : row) {
          if (entry.target == kUnknownWord) continue;
          const double to_target = count(kToTarget, entry.count[kToTarget], entry.target);
          const double to_source = count(kToSource, entry.count[kToSource], word);
          entry.probability[kToTarget] =
              ShortProbability((to_target + smoothing * targets.frequency[entry.target]) * over_source);
          entry.probability[kToSource] =
              ShortProbability((to_source + smoothing * sources.frequency[word]) * over_target[entry.target]);
          entry.count[kToTarget] = entry.count[kToSource] = 0;
        }
        for_each_prior(word, [&](WordId target, std::span<const float> counts) {
          const auto* place = Lexicon::find(row, target, Lexicon::hash(target));
          if (place == nullptr) return;  // the two words never occur together
          auto& entry = row[to_size(place - row.data())];
          const auto add = [](ShortProbability& sum, double part) { sum = ShortProbability(sum.value() + part); };
          add(entry.probability[kToTarget], counts[kToTarget] * over_source);
          add(entry.probability[kToSource], counts[kToSource] * over_target[target]);
        });
      }
    });
  }

  void renew_null(Direction direction, std::span<const std::uint64_t> counts) {
    double total = 0;
    for (const auto count : counts) total += count_value(count);
    for (std::size_t word = 0; word < counts.size() && total > 0; ++word)
      model_.null_emission[direction][word] = static_cast<float>(count_value(counts[word]) / total);
  }

  BitextView bitext_;
  AlignerOptions options_;
  AlignerPrior prior_;
  std::array<std::vector<double>, 2> prior_totals_;  // by Direction, then by generating word
  unsigned n_threads_;
  std::vector<std::uint8_t> use_;
  std::array<GeneratedWords, 2> words_;  // by Direction
  AlignmentModel model_;                 // link counts of a round are in its lexicon
  CountScale scale_;
  Tally tally_;  // the other counts of a round
};

namespace {

// Call visit(pair, s) for every sentence pair s, in order within a chunk of kChunk; null for a pair that the model skips.
template <class Visit>
void for_each_pair(const AlignmentModel& model, const PosteriorCorrection* correction, BitextView bitext,
                   unsigned n_threads, const Progress& progress, const Visit& visit) {
  parallel_chunks(bitext.n_sentences(), kChunk, n_threads, progress, [&](std::size_t begin, std::size_t end) {
    PairPosteriors pair;
    const auto correct = correction ? correction->prepare(model, bitext, begin, end) : PosteriorCorrection::Step();
    for (std::size_t s = begin; s < end; ++s) {
      const bool fits = model.fits(bitext.source[s], bitext.target[s]);
      if (fits) pair.run(model, bitext.source[s], bitext.target[s], true);
      if (fits && correct) correct(s, pair);
      visit(fits ? &pair : nullptr, s);
    }
  });
}

// Concatenate the links of consecutive chunks.
LinksBuffer join(std::vector<LinksBuffer>& parts) {
  LinksBuffer all;
  for (auto& part : parts) {
    const auto start = static_cast<std::int64_t>(all.points.size());
    all.points.insert(all.points.end(), part.points.begin(), part.points.end());
    for (std::size_t s = 1; s < part.offsets.size(); ++s) all.offsets.push_back(start + part.offsets[s]);
    part = {};
  }
  return all;
}

Link link(std::size_t i, std::size_t j) { return {static_cast<std::uint16_t>(i), static_cast<std::uint16_t>(j)}; }

}  // namespace

AlignerTraining::AlignerTraining(BitextView bitext, std::size_t n_source_words, std::size_t n_target_words,
                                 const AlignerOptions& options, const AlignerPrior& prior, unsigned n_threads) {
  return_free_memory();
  trainer_ = std::make_unique<Trainer>(bitext, n_source_words, n_target_words, options, prior, n_threads);
}
AlignerTraining::AlignerTraining(AlignerTraining&&) noexcept = default;
AlignerTraining::~AlignerTraining() = default;

void AlignerTraining::count(bool chained, const Progress& progress) { trainer_->count(chained, progress); }
std::array<double, 2> AlignerTraining::renew(bool chained) { return trainer_->renew(chained); }
AlignmentModel AlignerTraining::take_model() { return trainer_->take_model(); }

std::vector<const Lexicon::Entry*> sorted_row(const Lexicon& table, WordId source) {
  std::vector<const Lexicon::Entry*> row;
  for (const auto& entry : table.row(source))
    if (entry.target != kUnknownWord) row.push_back(&entry);
  std::sort(row.begin(), row.end(), [](const auto* a, const auto* b) { return a->target < b->target; });
  return row;
}

LinkPosteriors link_posteriors(const AlignmentModel& model, const PosteriorCorrection* correction, BitextView bitext,
                               float threshold, unsigned n_threads, const Progress& progress) {
  const std::size_t n_chunks = (bitext.n_sentences() + kChunk - 1) / kChunk;
  std::vector<LinksBuffer> parts(n_chunks);
  std::vector<std::vector<float>> values(n_chunks);
  for_each_pair(model, correction, bitext, n_threads, progress, [&](const PairPosteriors* pair, std::size_t s) {
    const std::size_t chunk = s / kChunk;
    auto& part = parts[chunk];
    for (std::size_t i = 0; pair && i < pair->n_source(); ++i)
      for (std::size_t j = 0; j < pair->n_target(); ++j) {
        const float to_target = pair->to_target(i, j), to_source = pair->to_source(i, j);
        if (std::max(to_target, to_source) < threshold) continue;
        part.points.push_back(link(i, j));
        values[chunk].insert(values[chunk].end(), {to_target, to_source});
      }
    part.end_sentence();
  });
  LinkPosteriors all{join(parts), {}};
  all.values.reserve(2 * all.links.points.size());
  for (const auto& part : values) all.values.insert(all.values.end(), part.begin(), part.end());
  return all;
}

std::array<LinksBuffer, 2> directed_links(const AlignmentModel& model, const PosteriorCorrection* correction,
                                          BitextView bitext, float confidence, unsigned n_threads,
                                          const Progress& progress) {
  const std::size_t n_chunks = (bitext.n_sentences() + kChunk - 1) / kChunk;
  std::array<std::vector<LinksBuffer>, 2> parts{std::vector<LinksBuffer>(n_chunks), std::vector<LinksBuffer>(n_chunks)};
  for_each_pair(model, correction, bitext, n_threads, progress, [&](const PairPosteriors* pair, std::size_t s) {
    for (const auto direction : kBothDirections) {
      auto& part = parts[direction][s / kChunk];
      const std::size_t n_words = !pair ? 0 : direction == kToTarget ? pair->n_target() : pair->n_source();
      const std::size_t n_states = !pair ? 0 : direction == kToTarget ? pair->n_source() : pair->n_target();
      for (std::size_t word = 0; word < n_words; ++word) {
        float best = -1;
        Link chosen{};
        for (std::size_t state = 0; state < n_states; ++state) {
          const std::size_t i = direction == kToTarget ? state : word, j = direction == kToTarget ? word : state;
          const float mean = (pair->to_target(i, j) + pair->to_source(i, j)) / 2;
          if (mean > best) {
            best = mean;
            chosen = link(i, j);
          }
        }
        if (best >= confidence) part.points.push_back(chosen);
      }
      part.end_sentence();
    }
  });
  return {join(parts[kToTarget]), join(parts[kToSource])};
}

LinkScores score_links(const AlignmentModel& model, const PosteriorCorrection* correction, BitextView bitext,
                       LinksView links, unsigned n_threads, const Progress& progress) {
  LinkScores scores{std::vector<float>(2 * links.points.size(), 0),
                    std::vector<double>(2 * bitext.n_sentences(), std::numeric_limits<double>::quiet_NaN())};
  for_each_pair(model, correction, bitext, n_threads, progress, [&](const PairPosteriors* pair, std::size_t s) {
    if (!pair) return;
    for (const auto direction : kBothDirections) scores.logprobs[2 * s + direction] = pair->logprob(direction);
    auto* both = scores.posteriors.data() + 2 * links.offsets[s];
    for (const auto link : links[s]) {
      *both++ = pair->to_target(link.source, link.target);
      *both++ = pair->to_source(link.source, link.target);
    }
  });
  return scores;
}

}  // namespace hyperbaton
