#include <nanobind/stl/vector.h>

#include "base/numbers.hh"
#include "module.hh"
#include "phrases/inventory.hh"
#include "rules/extract.hh"
#include "rules/merge.hh"
#include "rules/rule_rows.hh"
#include "table.hh"
#include "texts.hh"

namespace hyperbaton::bindings {

namespace {

// An aligned text, with its arrays.
struct RuleTextArrays {
  BoundTokens source, target;
  Array2<std::uint16_t> points;
  Ints link_offsets;
  AlignedText view() const { return {source.tokens(), target.tokens(), view_links(points, link_offsets)}; }
};

// A merger with the arrays that it reads.
class BoundRuleMerger {
 public:
  BoundRuleMerger(const std::vector<Bytes>& runs, const RuleSymbols& symbols, const HashSet* sources)
      : runs_(runs), merger_(views(runs_), symbols, sources) {}
  RuleMerger& merger() { return merger_; }

 private:
  static std::vector<BytesView> views(const std::vector<Bytes>& runs) {
    std::vector<BytesView> result;
    for (const auto& run : runs) result.push_back(view(run));
    return result;
  }
  std::vector<Bytes> runs_;
  RuleMerger merger_;
};

class BoundRuleRows {
 public:
  BoundRuleRows(const TableArrays& table, const Spelling& source, const Spelling& target, const Words& target_ranks,
                std::size_t n_scores, bool exact)
      : table_(table),
        source_(source),
        target_(target),
        target_ranks_(target_ranks),
        rows_(table_.pairs(), source_.words(), target_.words(), view(target_ranks_), n_scores,
              exact ? Digits::Exact : Digits::Six) {}
  nb::bytes format(const Words& sources, const Array2<double>& scores, const Array2<float>& counts) {
    if (counts.shape(0) != scores.shape(0) || counts.shape(1) != 3) throw Error("counts do not match the rules");
    const auto text = without_gil(
        [&] { return rows_.format(view(sources), {{scores.data(), scores.size()}, {counts.data(), counts.size()}}); });
    return nb::bytes(text.data(), text.size());
  }

 private:
  TableArrays table_;
  Spelling source_, target_;
  Words target_ranks_;
  RuleRows rows_;
};

}  // namespace

HYPERBATON_BINDINGS(rules) {
  using namespace nb::literals;

  nb::class_<RuleSymbols>(m, "RuleSymbols", "The words and gaps of rules; gaps are the last words of the vocabularies.")
      .def(
          "__init__",
          [](RuleSymbols* self, const Spelling& source, const Spelling& target) {
            new (self) RuleSymbols(source.words(), target.words());
          },
          "source"_a, "target"_a);

  nb::class_<RuleLimits>(m, "RuleLimits", "Limits on the size of rules.")
      .def(
          "__init__",
          [](RuleLimits* self, int max_span, int max_symbols, int max_gaps, int min_gap) {
            new (self)
                RuleLimits{.max_span = max_span, .max_symbols = max_symbols, .max_gaps = max_gaps, .min_gap = min_gap};
          },
          nb::kw_only(), "max_span"_a, "max_symbols"_a, "max_gaps"_a, "min_gap"_a);

  nb::class_<HashSet>(m, "RuleSides", "A set of source or target sides of rules.")
      .def(
          "__init__",
          [](HashSet* self, const Keys& hashes) {
            new (self) HashSet();
            for (const auto hash : view(hashes)) self->add(hash);
          },
          "hashes"_a)
      .def("__len__", &HashSet::size)
      .def("hashes", [](const HashSet& self) { return to_numpy(self.hashes()); }, "The hashes of the set, in any order.");

  nb::class_<RuleTextArrays>(m, "AlignedText", "Two texts and their links.")
      .def(nb::init<BoundTokens, BoundTokens, Array2<std::uint16_t>, Ints>(), nb::kw_only(), "source"_a, "target"_a,
           "points"_a, "link_offsets"_a);

  m.def(
      "matching_sources",
      [](const BoundTokens& text, const RuleLimits& limits, int max_span, const RuleSymbols& symbols, unsigned n_threads,
         const Progress& progress) {
        return without_gil(
            [&] { return matching_sources(text.tokens(), limits, max_span, symbols.gaps.source, n_threads, progress); });
      },
      "text"_a, "limits"_a, nb::kw_only(), "max_span"_a, "symbols"_a, "n_threads"_a, "progress"_a.none(),
      "The source sides that match a sentence of a text.");

  m.def(
      "targets_of_sources",
      [](const RuleTextArrays& text, const RuleLimits& limits, std::size_t first, std::size_t last,
         const RuleSymbols& symbols, const HashSet& sources, unsigned n_threads, const Progress& progress) {
        return without_gil([&] {
          return targets_of_sources(text.view(), {first, last}, limits, symbols.gaps, sources, n_threads, progress);
        });
      },
      "text"_a, "limits"_a, nb::kw_only(), "first"_a, "last"_a, "symbols"_a, "sources"_a, "n_threads"_a,
      "progress"_a.none(), "The target sides of the rules of some sentence pairs whose source sides are in a set.");

  m.def(
      "extract_rules",
      [](const RuleTextArrays& text, const Ints& bounds, const RuleLimits& limits, const RuleSymbols& symbols,
         const HashSet* targets, unsigned n_threads, const Progress& progress) {
        auto runs = without_gil(
            [&] { return extract_rules(text.view(), view(bounds), limits, symbols, targets, n_threads, progress); });
        nb::list arrays;
        for (auto& run : runs) arrays.append(to_numpy(std::move(run)));
        return arrays;
      },
      "text"_a, "bounds"_a, "limits"_a, nb::kw_only(), "symbols"_a, "targets"_a.none(), "n_threads"_a, "progress"_a.none(),
      "Sorted runs of the rules of sentence pairs, one run from each bound to the next.");

  m.def(
      "read_rules",
      [](const Bytes& run, const RuleSymbols& symbols) {
        std::vector<std::int64_t> source_offsets{0}, target_offsets{0}, link_offsets{0};
        std::vector<WordId> source, target;
        std::vector<InnerLink> links;
        std::vector<float> counts;
        std::vector<std::uint64_t> times;
        const RuleCodec codec(symbols);
        RuleCodec::Decoded rule;
        const auto append = [](auto& values, const auto& more, std::vector<std::int64_t>& offsets) {
          values.insert(values.end(), more.begin(), more.end());
          offsets.push_back(static_cast<std::int64_t>(values.size()));
        };
        for (RunReader reader(RunView(view(run)).keys); reader.next();) {
          codec.decode(reader.key(), rule);
          append(source, rule.source, source_offsets);
          append(target, rule.target, target_offsets);
          append(links, rule.links, link_offsets);
          counts.push_back(rule.count);
          times.push_back(reader.n());
        }
        nb::dict columns;
        columns["source_offsets"] = to_numpy(std::move(source_offsets));
        columns["source_words"] = to_numpy(std::move(source));
        columns["target_offsets"] = to_numpy(std::move(target_offsets));
        columns["target_words"] = to_numpy(std::move(target));
        columns["link_offsets"] = to_numpy(std::move(link_offsets));
        columns["links"] = rows_to_numpy<std::uint8_t>(std::move(links));
        columns["counts"] = to_numpy(std::move(counts));
        columns["times"] = to_numpy(std::move(times));
        return columns;
      },
      "run"_a, "symbols"_a, "The rules of a run as columns, with their numbers of occurrences.");

  nb::class_<BoundRuleMerger>(m, "RuleMerger", "Merges runs of rules and scores them.")
      .def(nb::init<const std::vector<Bytes>&, const RuleSymbols&, const HashSet*>(), "runs"_a, "symbols"_a,
           "sources"_a.none(), nb::keep_alive<1, 3>(), nb::keep_alive<1, 4>())
      .def(
          "n_read", [](BoundRuleMerger& self) { return self.merger().n_read(); },
          "The number of bytes of each run that are no longer needed.")
      .def_prop_ro(
          "is_partial", [](BoundRuleMerger& self) { return self.merger().is_partial(); },
          "Whether a source side was left out.")
      .def(
          "next",
          [](BoundRuleMerger& self, std::size_t n_bytes, const LexicalArrays& lexical, const Words& source_numbers,
             const Words& target_numbers, unsigned n_threads) {
            auto batches = without_gil([&] {
              return self.merger().next(n_bytes, {lexical.table(), view(source_numbers), view(target_numbers)}, n_threads);
            });
            nb::list result;
            for (auto& batch : batches) {
              nb::dict columns;
              columns["source_offsets"] = to_numpy(std::move(batch.sources.offsets));
              columns["source_words"] = to_numpy(std::move(batch.sources.words));
              columns["offsets"] = to_numpy(std::move(batch.offsets));
              columns["target_offsets"] = to_numpy(std::move(batch.targets.offsets));
              columns["target_words"] = to_numpy(std::move(batch.targets.words));
              columns["link_sets"] = to_numpy(std::move(batch.link_sets));
              columns["source_counts"] = to_numpy(std::move(batch.source_counts));
              columns["counts"] = to_numpy(std::move(batch.counts));
              columns["weights"] = rows_to_numpy<double>(std::move(batch.weights));
              result.append(columns);
            }
            return result;
          },
          nb::kw_only(), "n_bytes"_a, "lexical"_a, "source_numbers"_a, "target_numbers"_a, "n_threads"_a,
          "The rules in the next bytes of the runs: for each thread, columns by name.")
      .def(
          "target_counts",
          [](BoundRuleMerger& self, const PhraseArrays& targets, unsigned n_threads) {
            return to_numpy(without_gil([&] { return self.merger().target_counts(targets.phrases(), n_threads); }));
          },
          "targets"_a, "n_threads"_a, "The counts of target sides, regardless of the order of gaps.")
      .def(
          "link_sets",
          [](BoundRuleMerger& self) {
            const auto& links = self.merger().links();
            return nb::make_tuple(to_numpy(links.order()), to_numpy(links.sets().offsets()),
                                  rows_to_numpy<std::uint8_t>(links.sets().points()));
          },
          "The sets of links: their numbers in the order of their first rules; offsets and points of all, by number.");

  m.def(
      "order_rules",
      [](const PhraseArrays& sides, const RuleSymbols& symbols, bool target, bool moses, unsigned n_threads) {
        const auto& source_order = moses ? symbols.moses.source : symbols.source;
        const auto& target_order = moses ? symbols.moses.target : symbols.target;
        return to_numpy(
            without_gil([&] { return order_phrases(sides.phrases(), target ? target_order : source_order, n_threads); }));
      },
      "sides"_a, nb::kw_only(), "symbols"_a, "target"_a, "moses"_a = true, "n_threads"_a,
      "The numbers of source or target sides in the order of Moses' rule files, or in byte order.");

  nb::class_<BoundRuleRows>(m, "RuleRows", "Writes the rows of rules as Moses does; in one thread at a time.")
      .def(nb::init<TableArrays, Spelling, Spelling, Words, std::size_t, bool>(), nb::kw_only(), "table"_a, "source"_a,
           "target"_a, "target_ranks"_a, "n_scores"_a, "exact"_a)
      .def("format", &BoundRuleRows::format, "sources"_a, "scores"_a, "counts"_a,
           "Rows of source sides, given the scores and counts of their rules.");

  m.def(
      "round_six_digits",
      [](const Array<double>& values, unsigned n_threads) {
        std::vector<float> rounded(values.size());
        {
          const nb::gil_scoped_release release;
          parallel_chunks(values.size(), kVectorChunk, n_threads, {}, [&](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i) rounded[i] = round_six_digits(values.data()[i]);
          });
        }
        return to_numpy(std::move(rounded));
      },
      "values"_a, "n_threads"_a, "Numbers rounded to six digits, as written by Moses.");
}

}  // namespace hyperbaton::bindings
