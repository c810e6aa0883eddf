#include <concepts>

#include "metrics/chunks.hh"
#include "metrics/edit_distance.hh"
#include "metrics/expected_matches.hh"
#include "metrics/orders.hh"
#include "metrics/shared_words.hh"
#include "metrics/translation_edits.hh"
#include "texts.hh"

namespace hyperbaton::bindings {

namespace {

void check(const Ints& offsets, std::size_t n_items) {
  if (!are_offsets(view(offsets), n_items)) throw Error("sentence offsets do not match the items");
}

WordsView checked(const BoundTokens& text) {
  check(text.offsets, text.words.size());
  return {view(text.words), view(text.offsets)};
}

OrdersView checked(const Shorts& positions, const Ints& offsets) {
  check(offsets, positions.size());
  return {view(positions), view(offsets)};
}

void check_lines(std::span<const std::int64_t> line, std::size_t n_hypotheses, std::size_t n_references) {
  if (line.size() != n_hypotheses) throw Error("every hypothesis needs a line");
  for (const std::int64_t at : line)
    if (at < 0 || at >= static_cast<std::int64_t>(n_references)) throw Error("a line has no reference");
}

// Lists of matching words, with their arrays.
struct WordMatches {
  Ints offsets;
  Words words;
  Bytes stages;
};

}  // namespace

HYPERBATON_BINDINGS(metrics) {
  using namespace nb::literals;

  // Define name(hypotheses, references, line), which counts something for each hypothesis h and reference line[h].
  const auto def_count = [&m](const char* name, auto count, const char* help) {
    m.def(
        name,
        [count](const BoundTokens& hypotheses, const BoundTokens& references, const Ints& line, unsigned n_threads) {
          const auto own = checked(hypotheses), others = checked(references);
          check_lines(view(line), own.size(), others.size());
          auto counts = without_gil([&] { return count(own, others, view(line), n_threads, make_progress()); });
          if constexpr (std::same_as<decltype(counts), std::vector<std::int64_t>>)
            return to_numpy(std::move(counts));
          else
            return rows_to_numpy<std::int64_t>(std::move(counts));
        },
        nb::kw_only(), "hypotheses"_a, "references"_a, "line"_a, "n_threads"_a, help);
  };
  def_count("edit_distances", edit_distances, "Word edits between each hypothesis h and reference line[h].");
  def_count("translation_edits", translation_edits, "Word edits where moving a run of words costs one edit, as in TER.");
  def_count("count_shared_words", count_shared_words,
            "Words of each hypothesis h whose place in reference line[h] is identified, and concordant pairs of them.");

  m.def(
      "expected_matches",
      [](const BoundTokens& candidates, const Ints& lists, const Array<double>& probabilities, std::size_t max_order,
         unsigned n_threads) {
        const auto words = checked(candidates);
        check(lists, words.size());
        if (probabilities.size() != words.size()) throw Error("every candidate needs a probability");
        auto rows = without_gil([&] {
          return expected_matches(words, view(lists), view(probabilities), max_order, n_threads, make_progress());
        });
        return to_numpy(std::move(rows), max_order);
      },
      nb::kw_only(), "candidates"_a, "lists"_a, "probabilities"_a, "max_order"_a, "n_threads"_a,
      "Expected n-gram matches of each candidate with the candidates of its list, (n_candidates, max_order).");

  nb::class_<WordMatches>(m, "WordMatches", "The words that each word matches, and the stage of each match.")
      .def(
          "__init__",
          [](WordMatches* self, Ints offsets, Words words, Bytes stages) {
            check(offsets, words.size());
            if (stages.size() != words.size()) throw Error("every match needs a stage");
            new (self) WordMatches{.offsets = std::move(offsets), .words = std::move(words), .stages = std::move(stages)};
          },
          nb::kw_only(), "offsets"_a, "words"_a, "stages"_a);

  m.def(
      "count_chunks",
      [](const BoundTokens& hypotheses, const BoundTokens& references, const Ints& line, unsigned n_threads,
         const WordMatches& matches) {
        const auto own = checked(hypotheses), others = checked(references);
        check_lines(view(line), own.size(), others.size());
        for (const auto word : own.values)
          if (word + std::size_t{1} >= matches.offsets.size()) throw Error("a word has no list of matches");
        const MatchesView lists{view(matches.offsets), view(matches.words), view(matches.stages)};
        return rows_to_numpy<std::int64_t>(
            without_gil([&] { return count_chunks(own, others, view(line), lists, n_threads, make_progress()); }));
      },
      nb::kw_only(), "hypotheses"_a, "references"_a, "line"_a, "n_threads"_a, "matches"_a,
      "Words of each hypothesis h matched with those of reference line[h], and the chunks of neighbours they form.");

  m.def(
      "compare_orders",
      [](const Shorts& positions, const Ints& offsets, const Shorts& reference_positions, const Ints& reference_offsets,
         const Ints& line, unsigned n_threads) {
        const auto hypotheses = checked(positions, offsets), references = checked(reference_positions, reference_offsets);
        check_lines(view(line), hypotheses.size(), references.size());
        return rows_to_numpy<std::int64_t>(
            without_gil([&] { return compare_orders(hypotheses, references, view(line), n_threads); }));
      },
      nb::kw_only(), "positions"_a, "offsets"_a, "reference_positions"_a, "reference_offsets"_a, "line"_a, "n_threads"_a,
      "Agreement of each order h with reference line[h]: reference positions, common steps with and without the first, "
      "positions of the permutations, discordant pairs, displaced places.");
}

}  // namespace hyperbaton::bindings
