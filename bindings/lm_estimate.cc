#include <nanobind/stl/vector.h>

#include "lm/counts.hh"
#include "lm/kneser_ney.hh"
#include "lm/ngram_tree.hh"
#include "module.hh"

namespace hyperbaton::bindings {

namespace {

using Rows = Array2<std::uint32_t>;        // (n_ngrams, order + 2)
using OutRows = OutArray2<std::uint32_t>;  // (n_ngrams, order + 2), written to

std::size_t order_of(const auto& rows) {
  if (rows.shape(1) < 3) throw Error("rows of n-grams must have words and two numbers");
  return rows.shape(1) - 2;
}
Discounts to_discounts(const Floats& values) {
  if (values.size() != 3) throw Error("there must be three discounts");
  return {0, values.data()[0], values.data()[1], values.data()[2]};
}

RowOrder row_order(bool by_context) { return by_context ? RowOrder::ByContext : RowOrder::BySuffix; }

}  // namespace

HYPERBATON_BINDINGS(lm_estimate) {
  using namespace nb::literals;

  m.def(
      "count_ngrams",
      [](const Words& tokens, const Ints& offsets, std::size_t begin, std::size_t end, std::size_t order,
         unsigned n_threads) {
        auto rows = without_gil(
            [&] { return count_ngrams({view(tokens), view(offsets)}, begin, end, order, n_threads, make_progress()); });
        return to_numpy(std::move(rows), order + 2);
      },
      "tokens"_a, "offsets"_a, nb::kw_only(), "begin"_a, "end"_a, "order"_a, "n_threads"_a,
      "Distinct n-grams of some sentences, by suffix: rows of words, newest first, and counts.");

  m.def(
      "sort_ngrams",
      [](const OutRows& rows, bool by_context, unsigned n_threads) {
        const nb::gil_scoped_release release;
        sort_rows(view(rows), order_of(rows), row_order(by_context), n_threads, make_progress());
      },
      "rows"_a.noconvert(), nb::kw_only(), "by_context"_a, "n_threads"_a, "Sort rows in place.");

  m.def(
      "merge_ngrams",
      [](const std::vector<Rows>& runs, const OutRows& out, bool by_context) {
        const nb::gil_scoped_release release;
        std::vector<std::span<const std::uint32_t>> views;
        for (const auto& run : runs) views.push_back(view(run));
        return merge_rows(views, order_of(out), view(out), row_order(by_context));
      },
      "runs"_a, "out"_a.noconvert(), nb::kw_only(), "by_context"_a,
      "Merge sorted runs, adding up counts; returns the number of rows.");

  m.def(
      "count_orders",
      [](const Rows& full) {
        const nb::gil_scoped_release release;
        return count_orders(view(full), order_of(full));
      },
      "full"_a, "The number of n-grams of each order.");

  m.def(
      "adjust_counts",
      [](const Rows& full, const std::vector<std::uint64_t>& thresholds, const std::vector<OutRows>& orders) {
        std::vector<std::span<std::uint32_t>> views;
        for (std::size_t k = 0; k < orders.size(); ++k) {
          if (order_of(orders[k]) != k + 1) throw Error("the rows have a different order");
          views.push_back(view(orders[k]));
        }
        if (order_of(full) != orders.size()) throw Error("the rows have a different order");
        return rows_to_numpy<std::uint64_t>(without_gil([&] { return adjust_counts(view(full), thresholds, views); }));
      },
      "full"_a, "thresholds"_a, "orders"_a.noconvert(),
      "Fill the rows of all orders; returns how many n-grams of each have an adjusted count of 1, 2, 3, 4.");

  m.def(
      "estimate_unigrams",
      [](const OutRows& rows, const Floats& discounts) {
        if (order_of(rows) != 1 || rows.shape(0) <= NgramModel::kBos) throw Error("the rows have a different order");
        estimate_unigrams(view(rows), to_discounts(discounts));
      },
      "rows"_a.noconvert(), "discounts"_a, "Convert counts into probabilities.");

  m.def(
      "estimate_order",
      [](const OutRows& rows, const Floats& discounts, const Rows& lower, const OutArray<float>& weights) {
        if (order_of(rows) != order_of(lower) + 1) throw Error("the rows have a different order");
        const nb::gil_scoped_release release;
        return estimate_order(view(rows), order_of(rows), to_discounts(discounts), view(lower), view(weights));
      },
      "rows"_a.noconvert(), "discounts"_a, "lower"_a, "weights"_a.noconvert(),
      "Convert counts, by context, into the terms of probabilities; returns the number of rows after pruning.");

  m.def(
      "interpolate_order",
      [](const OutRows& rows, const Rows& lower) {
        if (order_of(rows) != order_of(lower) + 1) throw Error("the rows have a different order");
        const nb::gil_scoped_release release;
        interpolate(view(rows), order_of(rows), view(lower));
      },
      "rows"_a.noconvert(), "lower"_a, "Finish the probabilities of an order by those of the order below.");

  m.def(
      "finish_order",
      [](const Rows& rows, const OutRows& words, const OutArray<float>& log10_prob, const OutArray<float>& weights) {
        const nb::gil_scoped_release release;
        finish_order(view(rows), order_of(rows), view(words), view(log10_prob), view(weights));
      },
      "rows"_a, "words"_a.noconvert(), "log10_prob"_a.noconvert(), "weights"_a.noconvert(),
      "Finished rows as columns; weights become back-off weights in place.");

  nb::class_<NgramTree>(m, "NgramTree", "The n-grams of a text in memory, counted and estimated order by order.")
      .def(
          "__init__",
          [](NgramTree* self, const Words& tokens, const Ints& offsets, std::size_t n_words,
             const std::vector<std::uint64_t>& thresholds) {
            const nb::gil_scoped_release release;
            new (self) NgramTree({view(tokens), view(offsets)}, n_words, thresholds);
          },
          "tokens"_a, "offsets"_a, nb::kw_only(), "n_words"_a, "thresholds"_a)
      .def(
          "add_level",
          [](NgramTree& self) {
            const nb::gil_scoped_release release;
            self.add_level(make_progress());
          },
          "Count the n-grams of the next order.")
      .def(
          "count_of_counts",
          [](const NgramTree& self, std::size_t order) {
            const auto counts = self.count_of_counts(order);
            return to_numpy(std::vector<std::uint64_t>(counts.begin(), counts.end()));
          },
          "order"_a, "How many n-grams of an order have an adjusted count of 1, 2, 3, 4.")
      .def(
          "estimate",
          [](NgramTree& self, std::size_t order, const Floats& discounts, unsigned n_threads) {
            const auto amounts = to_discounts(discounts);
            const nb::gil_scoped_release release;
            self.estimate(order, amounts, n_threads);
          },
          "order"_a, "discounts"_a, nb::kw_only(), "n_threads"_a,
          "Convert the counts of an order into probabilities; lower orders must be done.")
      .def("finish", &NgramTree::finish, nb::call_guard<nb::gil_scoped_release>(), nb::kw_only(), "n_threads"_a,
           "Drop pruned n-grams; convert probabilities to logs.")
      .def(
          "count_ngrams",
          [](const NgramTree& self) {
            std::vector<std::size_t> counts;
            for (const auto& level : self.levels()) counts.push_back(level.size);
            return counts;
          },
          "The number of n-grams of each order.");
}

}  // namespace hyperbaton::bindings
