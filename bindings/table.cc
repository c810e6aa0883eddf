#include "table.hh"

#include <nanobind/stl/array.h>
#include <nanobind/stl/vector.h>

#include "align/lexical.hh"
#include "module.hh"
#include "phrases/composition.hh"
#include "phrases/inventory.hh"
#include "phrases/moses_text.hh"
#include "phrases/score.hh"
#include "phrases/significance.hh"
#include "texts.hh"

namespace hyperbaton::bindings {

namespace {

using Bytes = Array<std::uint8_t>;

SpansView view_spans(const Words& sentence, const Array<std::uint16_t>& begin, const Bytes& length) {
  if (begin.size() != sentence.size() || length.size() != sentence.size()) throw Error("span columns differ in length");
  return {view(sentence), view(begin), view(length)};
}

// Where both sides of phrase pairs lie, with the arrays that say it.
struct PairSpans {
  Words sentence;
  Array<std::uint16_t> source_begin;
  Bytes source_length;
  Array<std::uint16_t> target_begin;
  Bytes target_length;

  SpansView source() const { return view_spans(sentence, source_begin, source_length); }
  SpansView target() const { return view_spans(sentence, target_begin, target_length); }
};

OutArray2<std::uint8_t> inner_to_numpy(const std::vector<InnerLink>& points) {
  std::vector<std::uint8_t> flat;
  flat.reserve(2 * points.size());
  for (const auto point : points) {
    flat.push_back(point.source);
    flat.push_back(point.target);
  }
  return to_numpy(std::move(flat), 2);
}

nb::bytes to_bytes(const std::string& text) { return nb::bytes(text.data(), text.size()); }

}  // namespace

HYPERBATON_BINDINGS(table) {
  using namespace nb::literals;

  m.def(
      "lexical_counts",
      [](const BoundTokens& source, const BoundTokens& target, const Array2<std::uint16_t>& points,
         const Ints& link_offsets, std::size_t n_source_words, std::size_t n_target_words, unsigned n_threads) {
        LexicalCounts table;
        {
          const nb::gil_scoped_release release;
          table = lexical_counts(source.tokens(), target.tokens(), view_links(points, link_offsets),
                                 {n_source_words, n_target_words}, n_threads);
        }
        return nb::make_tuple(to_numpy(std::move(table.offsets)), to_numpy(std::move(table.targets)),
                              to_numpy(std::move(table.counts)));
      },
      "source"_a, "target"_a, "points"_a, "link_offsets"_a, "n_source_words"_a, "n_target_words"_a, "n_threads"_a,
      "Row offsets by source word, target words and counts of linked word pairs.");

  m.def(
      "byte_ranks",
      [](const Spelling& spelling) { return to_numpy(byte_order(view(spelling.bytes), view(spelling.offsets)).ranks); },
      "spelling"_a, "The rank of each word in the byte order of lines that start with a phrase.");

  m.def(
      "number_phrases",
      [](const BoundTokens& text, const Spelling& spelling, const Words& sentence, const Array<std::uint16_t>& begin,
         const Bytes& length, unsigned n_threads, const std::optional<nb::callable>& progress) {
        const auto report = make_progress(progress);
        const auto spans = view_spans(sentence, begin, length);
        NumberedPhrases numbered;
        {
          const nb::gil_scoped_release release;
          const auto order = byte_order(view(spelling.bytes), view(spelling.offsets));
          numbered = number_phrases(text.tokens(), order, spans, n_threads, report);
        }
        return nb::make_tuple(to_numpy(std::move(numbered.phrases.offsets)), to_numpy(std::move(numbered.phrases.words)),
                              to_numpy(std::move(numbered.ids)));
      },
      "text"_a, "spelling"_a, "sentence"_a, "begin"_a, "length"_a, "n_threads"_a, "progress"_a.none(),
      "Offsets and words of the distinct phrases in byte order, and each sample's.");

  m.def(
      "pair_phrases",
      [](const Words& source_ids, const Words& target_ids, std::size_t n_source_phrases, unsigned n_threads,
         const std::optional<nb::callable>& progress) {
        const auto report = make_progress(progress);
        PhrasePairs pairs;
        {
          const nb::gil_scoped_release release;
          pairs = pair_phrases(view(source_ids), view(target_ids), n_source_phrases, n_threads, report);
        }
        return nb::make_tuple(to_numpy(std::move(pairs.offsets)), to_numpy(std::move(pairs.targets)),
                              to_numpy(std::move(pairs.sample_offsets)), to_numpy(std::move(pairs.sample_order)));
      },
      "source_ids"_a, "target_ids"_a, "n_source_phrases"_a, "n_threads"_a, "progress"_a.none(),
      "Pair offsets by source phrase, target phrases, sample offsets by pair, samples in that order.");

  m.def(
      "merge_phrases",
      [](const std::vector<Ints>& offsets, const std::vector<Words>& words, const Spelling& spelling,
         const OutArray<std::int64_t>& merged_offsets, const OutArray<std::uint32_t>& merged_words,
         const std::vector<OutArray<std::uint32_t>>& numbers) {
        std::vector<PhrasesView> runs;
        std::vector<std::span<std::uint32_t>> number_views;
        std::size_t n_phrases = 0, n_words = 0;
        if (words.size() != offsets.size() || numbers.size() != offsets.size())
          throw Error("the runs do not fit each other");
        for (std::size_t r = 0; r < offsets.size(); ++r) {
          runs.push_back({view(offsets[r]), view(words[r])});
          number_views.emplace_back(numbers[r].data(), numbers[r].size());
          if (offsets[r].size() != numbers[r].size() + 1) throw Error("the numbers do not fit the phrases");
          n_phrases += numbers[r].size();
          n_words += words[r].size();
        }
        if (merged_offsets.size() <= n_phrases || merged_words.size() < n_words) throw Error("no room for the phrases");
        const nb::gil_scoped_release release;
        const auto order = byte_order(view(spelling.bytes), view(spelling.offsets));
        return merge_phrases(runs, order, {merged_offsets.data(), merged_offsets.size()},
                             {merged_words.data(), merged_words.size()}, number_views);
      },
      nb::kw_only(), "offsets"_a, "words"_a, "spelling"_a, "merged_offsets"_a.noconvert(), "merged_words"_a.noconvert(),
      "numbers"_a, "Merge runs of phrases in byte order, numbering those of each run; returns how many are distinct.");

  m.def(
      "merge_pairs",
      [](const std::vector<std::array<Ints, 2>>& offsets, const std::vector<std::array<Words, 4>>& columns,
         const std::vector<std::uint32_t>& first_samples, const OutArray<std::int64_t>& merged_offsets,
         const OutArray<std::uint32_t>& merged_targets, const OutArray<std::int64_t>& merged_sample_offsets,
         const OutArray<std::uint32_t>& merged_sample_order) {
        std::vector<PairsRun> runs;
        std::size_t n_pairs = 0, n_samples = 0;
        if (offsets.size() != columns.size() || offsets.size() != first_samples.size())
          throw Error("the runs do not fit each other");
        for (std::size_t r = 0; r < offsets.size(); ++r) {
          const auto& [targets, sample_order, source_numbers, target_numbers] = columns[r];
          runs.push_back({view(offsets[r][0]), view(targets), view(offsets[r][1]), view(sample_order), view(source_numbers),
                          view(target_numbers), first_samples[r]});
          n_pairs += targets.size();
          n_samples += sample_order.size();
        }
        if (merged_targets.size() < n_pairs || merged_sample_offsets.size() <= n_pairs ||
            merged_sample_order.size() != n_samples)
          throw Error("no room for the pairs");
        const nb::gil_scoped_release release;
        return merge_pairs(runs, {{merged_offsets.data(), merged_offsets.size()},
                                  {merged_targets.data(), merged_targets.size()},
                                  {merged_sample_offsets.data(), merged_sample_offsets.size()},
                                  {merged_sample_order.data(), merged_sample_order.size()}});
      },
      nb::kw_only(), "offsets"_a, "columns"_a, "first_samples"_a, "merged_offsets"_a.noconvert(),
      "merged_targets"_a.noconvert(), "merged_sample_offsets"_a.noconvert(), "merged_sample_order"_a.noconvert(),
      "Merge the pairs of runs, given (offsets, sample offsets), (targets, sample order, numbers of source and target "
      "phrases) and the first sample of each; returns how many are distinct.");

  nb::class_<PairSpans>(m, "PairSpans", "Where both sides of phrase pairs lie.")
      .def(nb::init<Words, Array<std::uint16_t>, Bytes, Array<std::uint16_t>, Bytes>(), nb::kw_only(), "sentence"_a,
           "source_begin"_a, "source_length"_a, "target_begin"_a, "target_length"_a);

  m.def(
      "most_frequent_links",
      [](const Ints& sample_offsets, const Words& sample_order, const PairSpans& spans, const Array2<std::uint16_t>& points,
         const Ints& link_offsets, bool ties_by_source, unsigned n_threads, const std::optional<nb::callable>& progress) {
        const auto report = make_progress(progress);
        const auto ties = ties_by_source ? TiesBy::Source : TiesBy::Target;
        InnerLinks inner;
        {
          const nb::gil_scoped_release release;
          inner = most_frequent_links({view(sample_offsets), view(sample_order)}, spans.source(), spans.target(),
                                      view_links(points, link_offsets), ties, n_threads, report);
        }
        return nb::make_tuple(to_numpy(std::move(inner.offsets)), inner_to_numpy(inner.points));
      },
      "sample_offsets"_a, "sample_order"_a, "spans"_a, "points"_a, "link_offsets"_a, "ties_by_source"_a, "n_threads"_a,
      "progress"_a.none(), "Offsets and points of the links that each pair has most often.");

  m.def(
      "count_classes",
      [](const Ints& sample_offsets, const Words& sample_order, const Bytes& classes, std::size_t n_classes,
         unsigned n_threads) {
        std::vector<std::uint32_t> counts;
        {
          const nb::gil_scoped_release release;
          counts = count_classes({view(sample_offsets), view(sample_order)}, view(classes), n_classes, n_threads);
        }
        return to_numpy(std::move(counts), n_classes);
      },
      "sample_offsets"_a, "sample_order"_a, "classes"_a, "n_classes"_a, "n_threads"_a,
      "How many samples of each group have each class, of shape (groups, classes).");

  nb::class_<TableArrays>(m, "TableArrays", "The arrays of a phrase table, for the calls that need all of them.")
      .def(
          "__init__",
          [](TableArrays* self, Ints source_offsets, Words source_words, Ints target_offsets, Words target_words,
             Ints offsets, Words targets, Ints link_offsets, Array2<std::uint8_t> links) {
            new (self) TableArrays{source_offsets, source_words, target_offsets, target_words,
                                   offsets,        targets,      link_offsets,   links};
          },
          "source_offsets"_a, "source_words"_a, "target_offsets"_a, "target_words"_a, "offsets"_a, "targets"_a,
          "link_offsets"_a, "links"_a)
      .def(
          "lexical_weights",
          [](const TableArrays& self, const Ints& offsets, const Words& targets, const Array2<double>& probabilities,
             std::size_t n_source_words, std::size_t n_target_words, unsigned n_threads) {
            const LexicalTable lexical{view(offsets),
                                       view(targets),
                                       {probabilities.data(), probabilities.size()},
                                       {n_source_words, n_target_words}};
            std::vector<double> weights;
            {
              const nb::gil_scoped_release release;
              weights = lexical_weights(self.pairs(), lexical, n_threads);
            }
            return to_numpy(std::move(weights), 2);
          },
          "offsets"_a, "targets"_a, "probabilities"_a, "n_source_words"_a, "n_target_words"_a, "n_threads"_a,
          "(lex(source|target), lex(target|source)) of every pair.")
      .def(
          "count_occurring",
          [](const TableArrays& self, const BoundTokens& source, const BoundTokens& target, unsigned n_threads,
             const std::optional<nb::callable>& progress) {
            const auto report = make_progress(progress);
            Occurring counts;
            {
              const nb::gil_scoped_release release;
              counts = count_occurring(self.pairs(), source.tokens(), target.tokens(), n_threads, report);
            }
            return nb::make_tuple(to_numpy(std::move(counts.source)), to_numpy(std::move(counts.target)),
                                  to_numpy(std::move(counts.pairs)));
          },
          "source"_a, "target"_a, "n_threads"_a, "progress"_a.none(),
          "In how many sentence pairs each source phrase, each target phrase, and both phrases of each pair occur.")
      .def(
          "composed_logprobs",
          [](const TableArrays& self, const Array<double>& logprobs, unsigned n_threads,
             const std::optional<nb::callable>& progress) {
            const auto report = make_progress(progress);
            std::vector<double> composed;
            {
              const nb::gil_scoped_release release;
              composed = composed_logprobs(self.pairs(), view(logprobs), n_threads, report);
            }
            return to_numpy(std::move(composed));
          },
          "logprobs"_a, "n_threads"_a, "progress"_a.none(),
          "The best sum of log-probabilities that each pair is composed with from shorter ones; -inf for none.")
      .def(
          "format",
          [](const TableArrays& self, const Spelling& source, const Spelling& target, const Array2<double>& scores,
             bool exact, bool links, const Array<float>& counts, std::size_t first, std::size_t last) {
            const auto pairs = self.pairs();
            if (last >= pairs.offsets.size() || first > last) throw Error("source phrases out of range");
            if (static_cast<std::int64_t>(scores.shape(0)) != pairs.offsets[last] - pairs.offsets[first])
              throw Error("scores do not fit the pairs");
            if (counts.size() != 0 && counts.size() != 3 * pairs.targets.size()) throw Error("counts do not fit the pairs");
            std::string text;
            {
              const nb::gil_scoped_release release;
              text = format_pairs(pairs, {view(source.bytes), view(source.offsets)},
                                  {view(target.bytes), view(target.offsets)}, {scores.data(), scores.size()},
                                  scores.shape(1), exact ? Digits::Exact : Digits::Six, {links, view(counts)}, first, last);
            }
            return to_bytes(text);
          },
          "source"_a, "target"_a, "scores"_a, "exact"_a, "links"_a, "counts"_a, "first"_a, "last"_a,
          "Rows of the pairs of source phrases [first, last).");

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

  m.def(
      "format_sources",
      [](const Ints& offsets, const Words& words, const Spelling& spelling, const Array2<double>& scores, bool exact,
         std::size_t first, std::size_t last) {
        if (last >= offsets.size() || first > last || scores.shape(0) != last - first)
          throw Error("scores do not fit the phrases");
        std::string text;
        {
          const nb::gil_scoped_release release;
          text = format_sources({view(offsets), view(words)}, {view(spelling.bytes), view(spelling.offsets)},
                                {scores.data(), scores.size()}, scores.shape(1), exact ? Digits::Exact : Digits::Six, first,
                                last);
        }
        return to_bytes(text);
      },
      "offsets"_a, "words"_a, "spelling"_a, "scores"_a, "exact"_a, "first"_a, "last"_a,
      "Rows `source ||| scores` of phrases [first, last).");

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
            columns["links"] = inner_to_numpy(self.links);
            columns["link_offsets"] = to_numpy(std::move(self.link_offsets));
            columns["counts"] = to_numpy(std::move(self.counts), 3);
            return columns;
          },
          "All rows as columns; call once, at the end.");
}

}  // namespace hyperbaton::bindings
