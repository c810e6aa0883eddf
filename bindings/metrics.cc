#include <algorithm>

#include "metrics/chunks.hh"
#include "metrics/edit_distance.hh"
#include "metrics/expected_matches.hh"
#include "metrics/orders.hh"
#include "metrics/shared_words.hh"
#include "metrics/translation_edits.hh"
#include "module.hh"

namespace hyperbaton::bindings {

namespace {

void check(std::span<const std::int64_t> offsets, std::size_t n_items) {
  if (offsets.empty() || offsets.front() != 0 || offsets.back() != static_cast<std::int64_t>(n_items))
    throw Error("sentence offsets do not match the items");
}

void check_lines(std::span<const std::int64_t> line, std::size_t n_hypotheses, std::size_t n_references) {
  if (line.size() != n_hypotheses) throw Error("every hypothesis needs a line");
  for (const std::int64_t at : line)
    if (at < 0 || at >= static_cast<std::int64_t>(n_references)) throw Error("a line has no reference");
}

// Lists of matching words, with their arrays.
struct WordMatches {
  Array<std::int64_t> offsets;
  Array<std::uint32_t> words;
  Array<std::uint8_t> stages;
};

struct Texts {
  WordsView hypotheses, references;
};

Texts check_texts(const Array<std::uint32_t>& words, const Array<std::int64_t>& offsets,
                  const Array<std::uint32_t>& reference_words, const Array<std::int64_t>& reference_offsets,
                  const Array<std::int64_t>& line) {
  check(view(offsets), words.size());
  check(view(reference_offsets), reference_words.size());
  const Texts texts{{view(words), view(offsets)}, {view(reference_words), view(reference_offsets)}};
  check_lines(view(line), texts.hypotheses.size(), texts.references.size());
  return texts;
}

}  // namespace

HYPERBATON_BINDINGS(metrics) {
  using namespace nb::literals;

  const auto count_edits = [&m](const char* name, auto count, const char* help) {
    m.def(
        name,
        [count](const Array<std::uint32_t>& words, const Array<std::int64_t>& offsets,
                const Array<std::uint32_t>& reference_words, const Array<std::int64_t>& reference_offsets,
                const Array<std::int64_t>& line, unsigned n_threads) {
          const auto texts = check_texts(words, offsets, reference_words, reference_offsets, line);
          const auto report = make_progress({});
          std::vector<std::int64_t> edits;
          {
            const nb::gil_scoped_release release;
            edits = count(texts.hypotheses, texts.references, view(line), n_threads, report);
          }
          return to_numpy(std::move(edits));
        },
        nb::kw_only(), "words"_a, "offsets"_a, "reference_words"_a, "reference_offsets"_a, "line"_a, "n_threads"_a, help);
  };
  count_edits("edit_distances", edit_distances, "Word edits between each hypothesis h and reference line[h].");
  count_edits("translation_edits", translation_edits, "Word edits where moving a run of words costs one edit, as in TER.");

  m.def(
      "count_shared_words",
      [](const Array<std::uint32_t>& words, const Array<std::int64_t>& offsets, const Array<std::uint32_t>& reference_words,
         const Array<std::int64_t>& reference_offsets, const Array<std::int64_t>& line, unsigned n_threads) {
        const auto texts = check_texts(words, offsets, reference_words, reference_offsets, line);
        const auto report = make_progress({});
        std::vector<std::int64_t> flat;
        {
          const nb::gil_scoped_release release;
          for (const auto& one : count_shared_words(texts.hypotheses, texts.references, view(line), n_threads, report))
            flat.insert(flat.end(), {one.matches, one.concordant});
        }
        return to_numpy(std::move(flat), 2);
      },
      nb::kw_only(), "words"_a, "offsets"_a, "reference_words"_a, "reference_offsets"_a, "line"_a, "n_threads"_a,
      "Words of each hypothesis h whose place in reference line[h] is identified, and concordant pairs of them.");

  m.def(
      "expected_matches",
      [](const Array<std::uint32_t>& words, const Array<std::int64_t>& offsets, const Array<std::int64_t>& lists,
         const Array<double>& probabilities, std::size_t max_order, unsigned n_threads) {
        check(view(offsets), words.size());
        const WordsView candidates{view(words), view(offsets)};
        check(view(lists), candidates.size());
        if (probabilities.size() != candidates.size()) throw Error("every candidate needs a probability");
        for (const auto bounds : {view(offsets), view(lists)})
          if (!std::ranges::is_sorted(bounds)) throw Error("offsets must not decrease");
        const auto report = make_progress({});
        std::vector<double> rows;
        {
          const nb::gil_scoped_release release;
          rows = expected_matches(candidates, view(lists), view(probabilities), max_order, n_threads, report);
        }
        return to_numpy(std::move(rows), max_order);
      },
      nb::kw_only(), "words"_a, "offsets"_a, "lists"_a, "probabilities"_a, "max_order"_a, "n_threads"_a,
      "Expected n-gram matches of each candidate with the candidates of its list, (n_candidates, max_order).");

  nb::class_<WordMatches>(m, "WordMatches", "The words that each word matches, and the stage of each match.")
      .def(
          "__init__",
          [](WordMatches* self, Array<std::int64_t> offsets, Array<std::uint32_t> words, Array<std::uint8_t> stages) {
            check(view(offsets), words.size());
            if (stages.size() != words.size()) throw Error("every match needs a stage");
            new (self) WordMatches{.offsets = std::move(offsets), .words = std::move(words), .stages = std::move(stages)};
          },
          nb::kw_only(), "offsets"_a, "words"_a, "stages"_a);

  m.def(
      "count_chunks",
      [](const Array<std::uint32_t>& words, const Array<std::int64_t>& offsets, const Array<std::uint32_t>& reference_words,
         const Array<std::int64_t>& reference_offsets, const Array<std::int64_t>& line, unsigned n_threads,
         const WordMatches& matches) {
        const auto texts = check_texts(words, offsets, reference_words, reference_offsets, line);
        for (const auto word : view(words))
          if (word + std::size_t{1} >= matches.offsets.size()) throw Error("a word has no list of matches");
        const auto report = make_progress({});
        std::vector<std::int64_t> flat;
        {
          const nb::gil_scoped_release release;
          const MatchesView lists{view(matches.offsets), view(matches.words), view(matches.stages)};
          for (const auto& one : count_chunks(texts.hypotheses, texts.references, view(line), lists, n_threads, report))
            flat.insert(flat.end(), {one.matches, one.chunks});
        }
        return to_numpy(std::move(flat), 2);
      },
      nb::kw_only(), "words"_a, "offsets"_a, "reference_words"_a, "reference_offsets"_a, "line"_a, "n_threads"_a,
      "matches"_a,
      "Words of each hypothesis h matched with those of reference line[h], and the chunks of neighbours they form.");

  m.def(
      "compare_orders",
      [](const Array<std::uint16_t>& positions, const Array<std::int64_t>& offsets,
         const Array<std::uint16_t>& reference_positions, const Array<std::int64_t>& reference_offsets,
         const Array<std::int64_t>& line, unsigned n_threads) {
        check(view(offsets), positions.size());
        check(view(reference_offsets), reference_positions.size());
        const OrdersView hypotheses{view(positions), view(offsets)},
            references{view(reference_positions), view(reference_offsets)};
        check_lines(view(line), hypotheses.size(), references.size());
        std::vector<std::int64_t> flat;
        {
          const nb::gil_scoped_release release;
          for (const auto& agreement : compare_orders(hypotheses, references, view(line), n_threads))
            flat.insert(flat.end(), {agreement.n_reference, agreement.n_steps, agreement.n_inner, agreement.n_positions,
                                     agreement.n_discordant, agreement.n_displaced});
        }
        return to_numpy(std::move(flat), 6);
      },
      nb::kw_only(), "positions"_a, "offsets"_a, "reference_positions"_a, "reference_offsets"_a, "line"_a, "n_threads"_a,
      "Agreement of each order h with reference line[h]: reference positions, common steps with and without the first, "
      "positions of the permutations, discordant pairs, displaced places.");
}

}  // namespace hyperbaton::bindings
