#include "align/aligner.hh"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "texts.hh"

namespace hyperbaton::bindings {

namespace {

using Words = Array<std::uint32_t>;
using Offsets = Array<std::int64_t>;
using BothWays = std::pair<Array<float>, Array<float>>;  // of generated target words, and of source words

BitextView view_bitext(const BoundTokens& source, const BoundTokens& target) {
  if (source.offsets.size() != target.offsets.size()) throw Error("the two texts differ in length");
  return {{view(source.words), view(source.offsets)}, {view(target.words), view(target.offsets)}};
}

// Counts of pairs of words, and first weights of jumps, before a text is seen; with the arrays they stand on.
struct BoundPrior {
  Offsets starts;
  Words targets;
  Array2<float> counts;
  std::optional<BothWays> jumps;
  AlignerPrior view_prior() const {
    AlignerPrior prior{view(starts), view(targets), {counts.data(), counts.size()}, {}};
    if (jumps) prior.jumps = {view(jumps->first), view(jumps->second)};
    return prior;
  }
};

std::vector<float> copy(const Array<float>& values) { return {values.data(), values.data() + values.size()}; }

nb::tuple as_tuple(LinksBuffer&& links) {
  return nb::make_tuple(to_numpy(std::move(links.points)), to_numpy(std::move(links.offsets)));
}

// The table without pairs of which both probabilities are below `smallest`, by source and then target word.
nb::tuple list_pairs(const LexicalTable& table, float smallest) {
  std::vector<std::int64_t> starts{0};
  std::vector<std::uint32_t> targets;
  std::vector<float> both;
  std::vector<LexicalTable::Entry> row;
  for (WordId word = 0; word < table.n_source_words(); ++word) {
    row.clear();
    for (const auto& entry : table.row(word))
      if (entry.target != kUnknownWord && std::max(entry.probability[0], entry.probability[1]) >= smallest)
        row.push_back(entry);
    std::sort(row.begin(), row.end(), [](const auto& a, const auto& b) { return a.target < b.target; });
    for (const auto& entry : row) {
      targets.push_back(entry.target);
      both.insert(both.end(), entry.probability, entry.probability + 2);
    }
    starts.push_back(static_cast<std::int64_t>(targets.size()));
  }
  return nb::make_tuple(to_numpy(std::move(starts)), to_numpy(std::move(targets)), to_numpy(std::move(both), 2));
}

}  // namespace

HYPERBATON_BINDINGS(aligner) {
  using namespace nb::literals;

  nb::class_<AlignmentModel>(m, "AlignmentModel", "Hidden Markov models of word alignment in both directions.")
      .def(
          "__init__",
          [](AlignmentModel* self, const Offsets& starts, const Words& targets, const Array2<float>& probabilities,
             const BothWays& nulls, const BothWays& jumps, float null_probability, int max_length) {
            const auto outside = [&](std::uint32_t word) { return word >= nulls.first.size(); };
            if (starts.size() != nulls.second.size() + 1 || std::ranges::any_of(view(targets), outside))
              throw Error("the arrays of the aligner do not fit each other");
            new (self)
                AlignmentModel{LexicalTable(view(starts), view(targets), {probabilities.data(), probabilities.size()}),
                               {copy(nulls.first), copy(nulls.second)},
                               {Jumps(max_length, view(jumps.first)), Jumps(max_length, view(jumps.second))},
                               null_probability};
          },
          "starts"_a, "targets"_a, "probabilities"_a, "nulls"_a, "jumps"_a, "null_probability"_a, "max_length"_a)
      .def(
          "lexicon", [](const AlignmentModel& self, float smallest) { return list_pairs(self.lexicon, smallest); },
          "smallest"_a, "Starts by source word, target words, and rows of p(target | source), p(source | target).")
      .def(
          "null_emission",
          [](const AlignmentModel& self, bool to_source) {
            return to_numpy(std::vector<float>(self.null_emission[to_source]));
          },
          "to_source"_a, "p(word | nothing) of each generated word.")
      .def(
          "jump_weights",
          [](const AlignmentModel& self, bool to_source) { return to_numpy(self.jumps[to_source].weights()); },
          "to_source"_a, "Weights of jumps by range: between words, to the first word, from the last.")
      .def(
          "directed_links",
          [](const AlignmentModel& self, const BoundTokens& source, const BoundTokens& target, float confidence,
             unsigned n_threads, const std::optional<nb::callable>& progress) {
            const auto bitext = view_bitext(source, target);
            const auto report = make_progress(progress);
            std::array<LinksBuffer, 2> links;
            {
              const nb::gil_scoped_release release;
              links = directed_links(self, bitext, confidence, n_threads, report);
            }
            return nb::make_tuple(as_tuple(std::move(links[kToTarget])), as_tuple(std::move(links[kToSource])));
          },
          "source"_a, "target"_a, "confidence"_a, "n_threads"_a, "progress"_a.none(),
          "Links of target words to their origins, and of source words to theirs.")
      .def(
          "posteriors",
          [](const AlignmentModel& self, const BoundTokens& source, const BoundTokens& target, float threshold,
             unsigned n_threads, const std::optional<nb::callable>& progress) {
            const auto bitext = view_bitext(source, target);
            const auto report = make_progress(progress);
            LinkPosteriors posteriors;
            {
              const nb::gil_scoped_release release;
              posteriors = link_posteriors(self, bitext, threshold, n_threads, report);
            }
            return nb::make_tuple(to_numpy(std::move(posteriors.links.points)),
                                  to_numpy(std::move(posteriors.links.offsets)), to_numpy(std::move(posteriors.values), 2));
          },
          "source"_a, "target"_a, "threshold"_a, "n_threads"_a, "progress"_a.none(),
          "Points, sentence offsets, and both posteriors of each point.")
      .def(
          "score_links",
          [](const AlignmentModel& self, const BoundTokens& source, const BoundTokens& target,
             const Array2<std::uint16_t>& points, const Offsets& offsets, unsigned n_threads,
             const std::optional<nb::callable>& progress) {
            const auto bitext = view_bitext(source, target);
            const auto links = view_links(points, offsets);
            if (links.offsets.size() != bitext.n_sentences() + 1) throw Error("the links do not fit the texts");
            for (std::size_t s = 0; s < bitext.n_sentences(); ++s)
              for (const auto link : links[s])
                if (link.source >= bitext.source[s].size() || link.target >= bitext.target[s].size())
                  throw Error("a link lies outside its sentence pair");
            const auto report = make_progress(progress);
            LinkScores scores;
            {
              const nb::gil_scoped_release release;
              scores = score_links(self, bitext, links, n_threads, report);
            }
            return nb::make_tuple(to_numpy(std::move(scores.posteriors), 2), to_numpy(std::move(scores.logprobs), 2));
          },
          "source"_a, "target"_a, "points"_a, "offsets"_a, "n_threads"_a, "progress"_a.none(),
          "Both posteriors of each link, and log p(target | source), log p(source | target) of each sentence pair.");

  nb::class_<AlignerOptions>(m, "AlignerOptions", "How alignment models are trained.")
      .def(nb::init<int, int, float, float, float, int>(), nb::kw_only(), "model1_iterations"_a, "hmm_iterations"_a,
           "null_probability"_a, "smoothing"_a, "freedom"_a, "max_length"_a);

  nb::class_<BoundPrior>(m, "AlignerPrior", "What is believed of pairs of words before a text is seen.")
      .def(nb::init<Offsets, Words, Array2<float>, std::optional<BothWays>>(), nb::kw_only(), "starts"_a, "targets"_a,
           "counts"_a, "jumps"_a.none());

  m.def(
      "train_aligner",
      [](const BoundTokens& source, const BoundTokens& target, std::size_t n_source_words, std::size_t n_target_words,
         const AlignerOptions& options, const std::optional<BoundPrior>& prior, unsigned n_threads,
         const std::optional<nb::callable>& progress) {
        const auto bitext = view_bitext(source, target);
        const auto belief = prior ? prior->view_prior() : AlignerPrior{};
        const auto report = make_progress(progress);
        std::optional<TrainedAligner> trained;
        {
          const nb::gil_scoped_release release;
          trained.emplace(train_aligner(bitext, n_source_words, n_target_words, options, belief, n_threads, report));
        }
        return nb::make_tuple(nb::cast(std::move(trained->model)), to_numpy(std::move(trained->logprobs)));
      },
      "source"_a, "target"_a, nb::kw_only(), "n_source_words"_a, "n_target_words"_a, "options"_a, "prior"_a.none(),
      "n_threads"_a, "progress"_a.none(), "The model, and log-probabilities before each iteration.");
}

}  // namespace hyperbaton::bindings
