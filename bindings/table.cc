#include "table.hh"

#include <nanobind/stl/array.h>
#include <nanobind/stl/vector.h>

#include "align/lexical.hh"
#include "module.hh"
#include "phrases/composition.hh"
#include "phrases/inventory.hh"
#include "phrases/moses_rows.hh"
#include "phrases/moses_text.hh"
#include "phrases/phrase_finder.hh"
#include "phrases/score.hh"
#include "phrases/significance.hh"
#include "texts.hh"

namespace hyperbaton::bindings {

namespace {

// The sentence pairs of samples, where their phrases begin, and the links of the text, with their arrays.
struct SampleArrays {
  Words sentence;
  Shorts source_begin, target_begin;
  Array2<std::uint16_t> points;
  Ints link_offsets;

  SamplesInText samples() const {
    if (source_begin.size() != sentence.size() || target_begin.size() != sentence.size())
      throw Error("columns of samples differ in length");
    return {.sentence = view(sentence),
            .source_begin = view(source_begin),
            .target_begin = view(target_begin),
            .links = view_links(points, link_offsets)};
  }
};

// A merger of encoded runs, with their arrays.
class BoundPairMerger {
 public:
  BoundPairMerger(std::vector<std::array<Words, 2>> numbers, std::vector<Bytes> runs,
                  const std::vector<std::uint32_t>& first_samples)
      : numbers_(std::move(numbers)), runs_(std::move(runs)), merger_(views(first_samples)) {}
  PairMerger::Batch next(std::size_t n_samples) { return merger_.next(n_samples); }
  std::vector<std::size_t> n_read() const { return merger_.n_read(); }

 private:
  std::vector<PairsRun> views(const std::vector<std::uint32_t>& first_samples) const {
    if (numbers_.size() != runs_.size() || first_samples.size() != runs_.size()) throw Error("the runs do not match");
    std::vector<PairsRun> views;
    for (std::size_t r = 0; r < runs_.size(); ++r)
      views.push_back({view(runs_[r]), view(numbers_[r][0]), view(numbers_[r][1]), first_samples[r]});
    return views;
  }
  std::vector<std::array<Words, 2>> numbers_;
  std::vector<Bytes> runs_;
  PairMerger merger_;
};

Digits digits(bool exact) { return exact ? Digits::Exact : Digits::Six; }

class BoundPairRows {
 public:
  BoundPairRows(const TableArrays& table, const Spelling& source, const Spelling& target, std::size_t n_scores, bool exact,
                bool links)
      : table_(table),
        source_(source),
        target_(target),
        n_scores_(n_scores),
        rows_(table_.pairs(), source_.words(), target_.words(), n_scores, digits(exact), links) {}
  nb::bytes format(const Array2<double>& scores, const Array2<float>& counts, std::size_t first, std::size_t last) {
    const auto pairs = table_.pairs();
    if (last >= pairs.offsets.size() || first > last) throw Error("source phrases are out of range");
    if (scores.shape(0) != pairs.offsets[last] - pairs.offsets[first] || scores.shape(1) != n_scores_)
      throw Error("scores do not match the pairs");
    if (counts.size() != 0 && (counts.shape(0) != scores.shape(0) || counts.shape(1) != 3))
      throw Error("counts do not match the pairs");
    return to_bytes(without_gil([&] { return rows_.format({view(scores), view(counts)}, first, last); }));
  }

 private:
  TableArrays table_;
  Spelling source_, target_;
  std::size_t n_scores_;
  PairRows rows_;
};

class BoundSourceRows {
 public:
  BoundSourceRows(PhraseArrays phrases, const Spelling& source, std::size_t n_scores, bool exact)
      : phrases_(std::move(phrases)),
        source_(source),
        n_scores_(n_scores),
        rows_(phrases_.phrases(), source_.words(), n_scores, digits(exact)) {}
  nb::bytes format(const Array2<double>& scores, std::size_t first, std::size_t last) {
    if (last > phrases_.phrases().size() || first > last) throw Error("source phrases are out of range");
    if (scores.shape(0) != last - first || scores.shape(1) != n_scores_) throw Error("scores do not match the phrases");
    return to_bytes(without_gil([&] { return rows_.format(view(scores), first, last); }));
  }

 private:
  PhraseArrays phrases_;
  Spelling source_;
  std::size_t n_scores_;
  SourceRows rows_;
};

}  // namespace

HYPERBATON_BINDINGS(table) {
  using namespace nb::literals;

  m.def(
      "pack_numbers",
      [](const Words& numbers) { return to_numpy(without_gil([&] { return pack_numbers(view(numbers)); })); }, "numbers"_a,
      "Whole numbers in the fewest bits.");

  nb::class_<NumberColumn>(m, "Numbers", "A column of whole numbers: 64-bit words are packed numbers.")
      .def(nb::init<Keys>(), "packed"_a.noconvert())
      .def(nb::init<Bytes>(), "plain"_a.noconvert())
      .def(nb::init<Words>(), "plain"_a.noconvert())
      .def(nb::init<Ints>(), "plain"_a.noconvert())
      .def("__len__", [](const NumberColumn& self) { return self.view().size(); })
      .def(
          "at",
          [](const NumberColumn& self, const Ints& rows) {
            const auto all = self.view();
            const auto n = static_cast<std::int64_t>(all.size());
            std::vector<std::uint32_t> numbers(rows.size());
            for (std::size_t i = 0; i < numbers.size(); ++i) {
              const auto row = rows.data()[i];
              if (row < -n || row >= n) throw nb::index_error("a row that is out of range");
              numbers[i] = static_cast<std::uint32_t>(all[static_cast<std::size_t>(row < 0 ? row + n : row)]);
            }
            return to_numpy(std::move(numbers));
          },
          "rows"_a, "The numbers in some rows; negative ones count from the end.")
      .def(
          "gather",
          [](const NumberColumn& self, const Array2<float>& values, const Ints& rows) {
            const auto numbers = self.view();
            const std::size_t width = values.shape(1);
            std::vector<float> gathered(rows.size() * width);
            for (std::size_t i = 0; i < rows.size(); ++i) {
              if (rows.data()[i] < 0) continue;
              const auto number = numbers[static_cast<std::size_t>(rows.data()[i])];
              if (number >= values.shape(0)) throw_damaged("the number of a row is out of range");
              std::copy_n(values.data() + number * width, width, gathered.data() + i * width);
            }
            return to_numpy(std::move(gathered), std::max<std::size_t>(width, 1));
          },
          "values"_a, "rows"_a, "The values of the numbers in some rows; zeros for negative rows.")
      .def(
          "slice",
          [](const NumberColumn& self, std::size_t begin, std::size_t end) {
            if (begin > end || end > self.view().size()) throw Error("rows are out of range");
            std::vector<std::uint32_t> numbers(end - begin);
            for (std::size_t i = begin; i < end; ++i) numbers[i - begin] = static_cast<std::uint32_t>(self.view()[i]);
            return to_numpy(std::move(numbers));
          },
          "begin"_a, "end"_a, "The numbers in consecutive rows.");

  nb::class_<ScoreArrays>(m, "PairScores", "Scores of phrase pairs: stored, or computed from counts and lexical weights.")
      .def(nb::init<Array2<float>>(), "stored"_a)
      .def(nb::init<Array2<float>, NumberColumn>(), "rows"_a, "numbers"_a)
      .def(
          "__init__",
          [](ScoreArrays* self, const Array2<float>& lexical, const NumberColumn& pairs, const NumberColumn& source,
             const NumberColumn& target) {
            if (lexical.shape(1) != 2 || lexical.shape(0) != pairs.view().size())
              throw Error("there must be two lexical weights for each pair");
            new (self) ScoreArrays{.stored = lexical,
                                   .numbers = {},
                                   .counts = CountArrays{.pairs = pairs, .source = source, .target = target}};
          },
          nb::kw_only(), "lexical"_a, "pairs"_a, "source"_a, "target"_a)
      .def(
          "__init__",
          [](ScoreArrays* self, const LexicalArrays& words, const Array2<float>& lexical, const NumberColumn& rows,
             const NumberColumn& pairs, const NumberColumn& source, const NumberColumn& target) {
            if (lexical.shape(1) != 2 || lexical.shape(0) != rows.view().size())
              throw Error("there must be two lexical weights for each row");
            new (self) ScoreArrays{.stored = lexical,
                                   .numbers = rows,
                                   .counts = CountArrays{.pairs = pairs, .source = source, .target = target},
                                   .words = words};
          },
          nb::kw_only(), "words"_a, "lexical"_a, "rows"_a, "pairs"_a, "source"_a, "target"_a);

  nb::class_<PhraseArrays>(m, "PhraseArrays", "The arrays of phrases: their places in a text and lengths, and the text.")
      .def(nb::init<NumberColumn, NumberColumn, NumberColumn>(), "begins"_a, "lengths"_a, "words"_a);

  m.def(
      "lexical_counts",
      [](const BoundTokens& source, const BoundTokens& target, const Array2<std::uint16_t>& points,
         const Ints& link_offsets, std::size_t n_source_words, std::size_t n_target_words, unsigned n_threads) {
        auto table = without_gil([&] {
          return lexical_counts(source.tokens(), target.tokens(), view_links(points, link_offsets),
                                {n_source_words, n_target_words}, n_threads);
        });
        return arrays(std::move(table.offsets), std::move(table.targets), std::move(table.counts));
      },
      "source"_a, "target"_a, "points"_a, "link_offsets"_a, "n_source_words"_a, "n_target_words"_a, "n_threads"_a,
      "Row offsets by source word, target words and counts of linked word pairs.");

  m.def(
      "phrase_ranks",
      [](const PhraseArrays& phrases, const Spelling& spelling) {
        return to_numpy(without_gil([&] { return phrase_ranks(phrases.phrases(), byte_order(spelling.words())); }));
      },
      "phrases"_a, "spelling"_a,
      "The rank of each word in the byte order of lines that start with a phrase, and last that of a phrase's end. The "
      "phrases must be in this order.");

  m.def(
      "number_phrases",
      [](const BoundTokens& text, const Spelling& spelling, const Words& sentence, const Shorts& begin, const Bytes& length,
         unsigned n_threads, const Progress& progress) {
        const auto spans = spans_of(text.tokens(), sentence, begin, length);
        auto numbered = without_gil(
            [&] { return number_phrases(text.tokens(), byte_order(spelling.words()), spans, n_threads, progress); });
        return arrays(std::move(numbered.begins), std::move(numbered.lengths), std::move(numbered.ids));
      },
      "text"_a, "spelling"_a, "sentence"_a, "begin"_a, "length"_a, "n_threads"_a, "progress"_a.none(),
      "Places in the text and lengths of the distinct phrases in byte order, and each sample's.");

  m.def(
      "pair_phrases",
      [](const Words& source_ids, const Words& target_ids, std::size_t n_source_phrases, unsigned n_threads,
         const Progress& progress) {
        auto pairs = without_gil(
            [&] { return pair_phrases(view(source_ids), view(target_ids), n_source_phrases, n_threads, progress); });
        return arrays(std::move(pairs.offsets), std::move(pairs.targets), std::move(pairs.sample_offsets),
                      std::move(pairs.sample_order));
      },
      "source_ids"_a, "target_ids"_a, "n_source_phrases"_a, "n_threads"_a, "progress"_a.none(),
      "Pair offsets by source phrase, target phrases, sample offsets by pair, samples in that order.");

  m.def(
      "merge_phrases",
      [](const std::vector<PhraseArrays>& phrases, const Spelling& spelling, const OutArray<std::uint32_t>& begins,
         const OutArray<std::uint8_t>& lengths, const std::vector<OutArray<std::uint32_t>>& numbers) {
        std::vector<PhrasesView> runs;
        std::vector<std::span<std::uint32_t>> number_views;
        std::size_t n_phrases = 0;
        if (numbers.size() != phrases.size()) throw Error("the runs do not match");
        for (std::size_t r = 0; r < phrases.size(); ++r) {
          runs.push_back(phrases[r].phrases());
          number_views.emplace_back(numbers[r].data(), numbers[r].size());
          if (runs[r].size() != numbers[r].size()) throw Error("the numbers do not match the phrases");
          n_phrases += numbers[r].size();
        }
        if (begins.size() < n_phrases || lengths.size() < n_phrases) throw Error("there is no room for the phrases");
        const nb::gil_scoped_release release;
        const auto order = byte_order(spelling.words());
        return merge_phrases(runs, order, {view(begins), view(lengths)}, number_views);
      },
      nb::kw_only(), "phrases"_a, "spelling"_a, "begins"_a.noconvert(), "lengths"_a.noconvert(), "numbers"_a,
      "Merge runs of phrases in byte order, numbering those of each run; returns the number of distinct ones.");

  m.def(
      "encode_pairs",
      [](const Ints& offsets, const Words& targets, const Ints& sample_offsets, const Words& sample_order) {
        if (sample_offsets.size() != targets.size() + 1) throw Error("the samples do not match the pairs");
        return to_numpy(without_gil(
            [&] { return encode_pairs({view(offsets), view(targets), view(sample_offsets), view(sample_order)}); }));
      },
      "offsets"_a, "targets"_a, "sample_offsets"_a, "sample_order"_a, "The sorted pairs of a run in few bytes.");

  nb::class_<BoundPairMerger>(m, "PairMerger",
                              "Merges encoded runs of pairs; `numbers` are the merged numbers of each run's source and "
                              "target phrases, none if the target phrases have theirs.")
      .def(nb::init<std::vector<std::array<Words, 2>>, std::vector<Bytes>, std::vector<std::uint32_t>>(), nb::kw_only(),
           "numbers"_a, "runs"_a, "first_samples"_a)
      .def(
          "next",
          [](BoundPairMerger& self, std::size_t n_samples) {
            auto batch = without_gil([&] { return self.next(n_samples); });
            return arrays(std::move(batch.sources), std::move(batch.targets), std::move(batch.counts),
                          std::move(batch.sample_order));
          },
          "n_samples"_a, "The next pairs, with about that many samples: source phrases, target phrases, counts, samples.")
      .def("n_read", &BoundPairMerger::n_read, "The number of bytes of each run that are no longer needed.");

  nb::class_<SampleArrays>(m, "SampleArrays", "The places of samples in the text, and its links.")
      .def(nb::init<Words, Shorts, Shorts, Array2<std::uint16_t>, Ints>(), nb::kw_only(), "sentence"_a, "source_begin"_a,
           "target_begin"_a, "points"_a, "link_offsets"_a);

  nb::class_<LexicalArrays>(m, "LexicalArrays", "The arrays of a lexical table.")
      .def(
          "__init__",
          [](LexicalArrays* self, const NumberColumn& offsets, const NumberColumn& targets,
             const Array2<double>& probabilities, std::size_t n_source_words, std::size_t n_target_words) {
            new (self) LexicalArrays{offsets, targets, probabilities, std::nullopt, {n_source_words, n_target_words}};
          },
          nb::kw_only(), "offsets"_a, "targets"_a, "probabilities"_a, "n_source_words"_a, "n_target_words"_a)
      .def(
          "__init__",
          [](LexicalArrays* self, const NumberColumn& offsets, const NumberColumn& targets, const NumberColumn& pairs,
             const NumberColumn& source, const NumberColumn& target) {
            const auto n_source = source.view().size(), n_target = target.view().size();
            if (n_source == 0 || n_target == 0) throw Error("the counts of words have no empty word");
            new (self)
                LexicalArrays{offsets, targets, {}, CountArrays{pairs, source, target}, {n_source - 1, n_target - 1}};
          },
          nb::kw_only(), "offsets"_a, "targets"_a, "pairs"_a, "source"_a, "target"_a);

  m.def(
      "class_probabilities",
      [](const Ints& offsets, const std::vector<Bytes>& classes, std::size_t n_classes, double smoothing,
         unsigned n_threads) {
        std::vector<std::span<const std::uint8_t>> views;
        for (const auto& block : classes) views.push_back(view(block));
        auto probabilities =
            without_gil([&] { return class_probabilities(view(offsets), views, n_classes, smoothing, n_threads); });
        return to_numpy(std::move(probabilities), n_classes * classes.size());
      },
      "offsets"_a, "classes"_a, "n_classes"_a, "smoothing"_a, "n_threads"_a,
      "Smoothed probabilities of the classes in each group, a block of columns for each array of classes.");

  nb::class_<LinkSets>(m, "LinkSets", "Numbers the distinct sets of inner links of phrase pairs.")
      .def(nb::init<>())
      .def(
          "add",
          [](LinkSets& self, const Ints& offsets, const Array2<std::uint8_t>& points) {
            return to_numpy(without_gil([&] { return self.add(view(offsets), view_inner(points)); }));
          },
          "offsets"_a, "points"_a, "The numbers of sets of links.")
      .def(
          "sets",
          [](const LinkSets& self) {
            return nb::make_tuple(to_numpy(self.offsets()), rows_to_numpy<std::uint8_t>(self.points()));
          },
          "Offsets and points of all sets, by number.");

  nb::class_<TableArrays>(m, "TableArrays", "The arrays of a phrase table, for the calls that need all of them.")
      .def(nb::init<PhraseArrays, PhraseArrays, NumberColumn, NumberColumn, NumberColumn, NumberColumn,
                    Array2<std::uint8_t>>(),
           nb::kw_only(), "source"_a, "target"_a, "offsets"_a, "targets"_a, "link_sets"_a, "link_offsets"_a, "links"_a)
      .def(
          "lexical_weights",
          [](const TableArrays& self, const LexicalArrays& lexical, unsigned n_threads) {
            return rows_to_numpy<double>(
                without_gil([&] { return lexical_weights(self.pairs(), lexical.table(), n_threads); }));
          },
          "lexical"_a, "n_threads"_a, "(lex(source|target), lex(target|source)) of every pair.")
      .def(
          "scores",
          [](const TableArrays& self, const ScoreArrays& scores, const Ints& pairs, const Words& sources) {
            const auto values = scores.scores();
            const auto table = self.pairs();
            if (!scores.fits(table) || sources.size() != pairs.size()) throw Error("the scores do not match the pairs");
            std::vector<float> rows(pairs.size() * values.n());
            PairScoreReader reader(values, table);
            for (std::size_t i = 0; i < pairs.size(); ++i) {
              const auto pair = static_cast<std::size_t>(pairs.data()[i]);
              reader.copy({pair, sources.data()[i], table.targets[pair]}, rows.data() + i * values.n());
            }
            return to_numpy(std::move(rows), values.n());
          },
          "scores"_a, "pairs"_a, "sources"_a, "The scores of some pairs, given their source phrases.")
      .def(
          "lexical_scores",
          [](const TableArrays& self, const Ints& sample_offsets, const Words& sample_order, const SampleArrays& samples,
             const LexicalArrays& lexical, unsigned n_threads, const Progress& progress) {
            auto scores = without_gil([&] {
              return lexical_scores(self.pairs(), {view(sample_offsets), view(sample_order)}, samples.samples(),
                                    lexical.table(), n_threads, progress);
            });
            return nb::make_tuple(rows_to_numpy<double>(std::move(scores.weights)),
                                  to_numpy(std::move(scores.links.offsets)),
                                  rows_to_numpy<std::uint8_t>(std::move(scores.links.points)));
          },
          "sample_offsets"_a, "sample_order"_a, "samples"_a, "lexical"_a, "n_threads"_a, "progress"_a.none(),
          "Lexical weights of every pair, and offsets and points of its most frequent links.")
      .def(
          "count_occurring",
          [](const TableArrays& self, const BoundTokens& source, const BoundTokens& target, unsigned n_threads,
             const Progress& progress) {
            auto counts = without_gil(
                [&] { return count_occurring(self.pairs(), source.tokens(), target.tokens(), n_threads, progress); });
            return arrays(std::move(counts.source), std::move(counts.target), std::move(counts.pairs));
          },
          "source"_a, "target"_a, "n_threads"_a, "progress"_a.none(),
          "The number of sentence pairs in which each source phrase, each target phrase, and both phrases of each pair "
          "occur.")
      .def(
          "composed_logprobs",
          [](const TableArrays& self, const Array<double>& logprobs, unsigned n_threads, const Progress& progress) {
            return to_numpy(
                without_gil([&] { return composed_logprobs(self.pairs(), view(logprobs), n_threads, progress); }));
          },
          "logprobs"_a, "n_threads"_a, "progress"_a.none(),
          "The best sum of log-probabilities of composing each pair from shorter ones; -inf for none.");

  nb::class_<BoundPairRows>(m, "PairRows", "Writes the rows of phrase pairs as Moses does; in one thread at a time.")
      .def(nb::init<TableArrays, Spelling, Spelling, std::size_t, bool, bool>(), nb::kw_only(), "table"_a, "source"_a,
           "target"_a, "n_scores"_a, "exact"_a, "links"_a)
      .def("format", &BoundPairRows::format, "scores"_a, "counts"_a, "first"_a, "last"_a,
           "Rows of the pairs of source phrases [first, last), given the scores and counts of these pairs.");

  nb::class_<BoundSourceRows>(m, "SourceRows", "Writes rows `source ||| scores` as Moses does; in one thread at a time.")
      .def(nb::init<PhraseArrays, Spelling, std::size_t, bool>(), nb::kw_only(), "phrases"_a, "source"_a, "n_scores"_a,
           "exact"_a)
      .def("format", &BoundSourceRows::format, "scores"_a, "first"_a, "last"_a,
           "Rows of phrases [first, last), given their scores.");

  m.def(
      "significance",
      [](const Words& both, const Words& source, const Words& target, std::size_t n, unsigned n_threads) {
        if (source.size() != both.size() || target.size() != both.size()) throw Error("counts differ in number");
        std::vector<double> values(both.size());
        {
          const nb::gil_scoped_release release;
          parallel_chunks(values.size(), 1 << 12, n_threads, {}, [&](std::size_t begin, std::size_t end) {
            for (std::size_t k = begin; k < end; ++k)
              values[k] = significance(both.data()[k], source.data()[k], target.data()[k], n);
          });
        }
        return to_numpy(std::move(values));
      },
      "both"_a, "source"_a, "target"_a, "n"_a, "n_threads"_a, "-ln of the p-values of Fisher's exact test.");

  nb::class_<MosesTableReader> table_reader(m, "MosesTableReader", "Reads rows of Moses' phrase and reordering tables.");
  def_feed(table_reader)
      .def(nb::init<bool>(), "with_target"_a)
      .def("source_vocabulary", [](const MosesTableReader& self) { return self.source_vocabulary; })
      .def("target_vocabulary", [](const MosesTableReader& self) { return self.target_vocabulary; })
      .def(
          "take",
          [](MosesTableReader& self) {
            nb::dict columns;
            const std::size_t width = std::max<std::size_t>(self.n_scores, 1);
            columns["source_words"] = to_numpy(std::move(self.source_words));
            columns["source_offsets"] = to_numpy(std::move(self.source_offsets));
            columns["target_words"] = to_numpy(std::move(self.target_words));
            columns["target_offsets"] = to_numpy(std::move(self.target_offsets));
            columns["scores"] = to_numpy(std::move(self.scores), width);
            columns["links"] = rows_to_numpy<std::uint8_t>(std::move(self.links));
            columns["link_offsets"] = to_numpy(std::move(self.link_offsets));
            columns["counts"] = to_numpy(std::move(self.counts), 3);
            return columns;
          },
          "All rows as columns; call once, at the end.");
}

}  // namespace hyperbaton::bindings
