#include "align/aligner.hh"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "align/link_network.hh"
#include "networks.hh"
#include "texts.hh"

namespace hyperbaton::bindings {

namespace {

using Numbers = Array<std::int32_t>;
using BothWays = std::pair<Floats, Floats>;  // of generated target words, and of source words

BitextView view_bitext(const BoundTokens& source, const BoundTokens& target) {
  if (source.offsets.size() != target.offsets.size()) throw Error("the two texts differ in length");
  return {{view(source.words), view(source.offsets)}, {view(target.words), view(target.offsets)}};
}

// Prior counts of word pairs and initial jump weights, with their arrays.
struct BoundPrior {
  Ints starts;
  Words targets;
  Array2<float> counts;
  std::optional<BothWays> jumps;
  AlignerPrior view_prior() const {
    AlignerPrior prior{view(starts), view(targets), view(counts), {}};
    if (jumps) prior.jumps = {view(jumps->first), view(jumps->second)};
    return prior;
  }
};

nb::tuple as_tuple(LinksBuffer&& links) { return arrays(std::move(links.points), std::move(links.offsets)); }

// The table without pairs whose probabilities are both below `smallest`, by source and then target word.
nb::tuple list_pairs(const Lexicon& table, float smallest) {
  std::vector<std::int64_t> starts{0};
  std::vector<std::uint32_t> targets;
  std::vector<float> both;
  for (WordId word = 0; word < table.n_source_words(); ++word) {
    for (const auto* entry : sorted_row(table, word)) {
      const float to_target = entry->probability[kToTarget].value(), to_source = entry->probability[kToSource].value();
      if (std::max(to_target, to_source) < smallest) continue;
      targets.push_back(entry->target);
      both.insert(both.end(), {to_target, to_source});
    }
    starts.push_back(static_cast<std::int64_t>(targets.size()));
  }
  return nb::make_tuple(to_numpy(std::move(starts)), to_numpy(std::move(targets)), to_numpy(std::move(both), 2));
}

// A training with the texts and the prior that it refers to.
struct BoundTraining {
  BoundTokens source, target;
  std::optional<BoundPrior> prior;
  AlignerTraining training;
};

}  // namespace

HYPERBATON_BINDINGS(aligner) {
  using namespace nb::literals;

  nb::class_<PosteriorCorrection>(m, "PosteriorCorrection", "What replaces the posteriors of alignment models.");

  nb::class_<GivenPosteriors, PosteriorCorrection>(m, "GivenPosteriors", "Posteriors of listed links; others are 0.")
      .def(
          "__init__",
          [](GivenPosteriors* self, const Array2<std::uint16_t>& points, const Ints& offsets, const Array2<float>& values) {
            new (self) GivenPosteriors(view_links(points, offsets), view(values));
          },
          "points"_a.noconvert(), "offsets"_a.noconvert(), "values"_a.noconvert(), nb::keep_alive<1, 2>(),
          nb::keep_alive<1, 3>(), nb::keep_alive<1, 4>(), "Borrowed arrays: points, offsets, and both posteriors of each.");

  nb::class_<LinkNetwork, PosteriorCorrection>(m, "LinkNetwork",
                                               "A network that corrects posteriors of links, over borrowed embeddings.")
      .def(
          "__init__",
          [](LinkNetwork* self, const std::map<std::string, Halves>& arrays, const Numbers& source_words,
             const Numbers& source_stems, const Numbers& target_words, const Numbers& target_stems,
             float smallest_posterior, float posterior_floor, float window_scale) {
            if (source_words.size() != source_stems.size() || target_words.size() != target_stems.size())
              throw Error("the arrays of the aligner do not match");
            new (self) LinkNetwork(matrices_of(arrays),
                                   {LinkNetwork::WordRows{view(source_words), view(source_stems)},
                                    LinkNetwork::WordRows{view(target_words), view(target_stems)}},
                                   {smallest_posterior, posterior_floor, window_scale});
          },
          "arrays"_a.noconvert(), "source_words"_a.noconvert(), "source_stems"_a.noconvert(), "target_words"_a.noconvert(),
          "target_stems"_a.noconvert(), nb::kw_only(), "smallest_posterior"_a, "posterior_floor"_a, "window_scale"_a,
          nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>(), nb::keep_alive<1, 4>(), nb::keep_alive<1, 5>(),
          nb::keep_alive<1, 6>(),
          "Half-precision arrays, as bits, by name, and rows of the embeddings by word; they must not be modified.");

  nb::class_<AlignmentModel>(m, "AlignmentModel", "Hidden Markov models of word alignment in both directions.")
      .def(
          "__init__",
          [](AlignmentModel* self, const Ints& starts, const Words& targets, const Array2<float>& probabilities,
             const BothWays& nulls, const BothWays& jumps, float null_probability, int max_length) {
            const auto outside = [&](std::uint32_t word) { return word >= nulls.first.size(); };
            if (starts.size() != nulls.second.size() + 1 || std::ranges::any_of(view(targets), outside))
              throw Error("the arrays of the aligner do not match");
            new (self)
                AlignmentModel{.lexicon = Lexicon(view(starts), view(targets), view(probabilities)),
                               .null_emission = {copied(nulls.first), copied(nulls.second)},
                               .jumps = {Jumps(max_length, view(jumps.first)), Jumps(max_length, view(jumps.second))},
                               .null_probability = null_probability};
          },
          "starts"_a, "targets"_a, "probabilities"_a, "nulls"_a, "jumps"_a, "null_probability"_a, "max_length"_a)
      .def(
          "lexicon", [](const AlignmentModel& self, float smallest) { return list_pairs(self.lexicon, smallest); },
          "smallest"_a, "Starts by source word, target words, and rows of p(target | source), p(source | target).")
      .def(
          "null_emissions",
          [](const AlignmentModel& self) {
            const auto emission = [&](Direction direction) {
              return to_numpy(std::vector<float>(self.null_emission[direction]));
            };
            return std::pair(emission(kToTarget), emission(kToSource));
          },
          "p(word | null) of each target word, and of each source word.")
      .def(
          "jump_weights",
          [](const AlignmentModel& self) {
            return std::pair(to_numpy(self.jumps[kToTarget].weights()), to_numpy(self.jumps[kToSource].weights()));
          },
          "Weights of jumps to the target and to the source by range: between words, to the first word, from the last.")
      .def(
          "directed_links",
          [](const AlignmentModel& self, const PosteriorCorrection* correction, const BoundTokens& source,
             const BoundTokens& target, float confidence, unsigned n_threads, const Progress& progress) {
            const auto bitext = view_bitext(source, target);
            auto links =
                without_gil([&] { return directed_links(self, correction, bitext, confidence, n_threads, progress); });
            return nb::make_tuple(as_tuple(std::move(links[kToTarget])), as_tuple(std::move(links[kToSource])));
          },
          "correction"_a.none(), "source"_a, "target"_a, "confidence"_a, "n_threads"_a, "progress"_a.none(),
          "Links from target words to the source words that generate them, and vice versa.")
      .def(
          "posteriors",
          [](const AlignmentModel& self, const PosteriorCorrection* correction, const BoundTokens& source,
             const BoundTokens& target, float threshold, unsigned n_threads, const Progress& progress) {
            const auto bitext = view_bitext(source, target);
            auto posteriors =
                without_gil([&] { return link_posteriors(self, correction, bitext, threshold, n_threads, progress); });
            return nb::make_tuple(to_numpy(std::move(posteriors.links.points)),
                                  to_numpy(std::move(posteriors.links.offsets)), to_numpy(std::move(posteriors.values), 2));
          },
          "correction"_a.none(), "source"_a, "target"_a, "threshold"_a, "n_threads"_a, "progress"_a.none(),
          "Points, sentence offsets, and both posteriors of each point.")
      .def(
          "score_links",
          [](const AlignmentModel& self, const PosteriorCorrection* correction, const BoundTokens& source,
             const BoundTokens& target, const Array2<std::uint16_t>& points, const Ints& offsets, unsigned n_threads,
             const Progress& progress) {
            const auto bitext = view_bitext(source, target);
            const auto links = view_links(points, offsets);
            check_links(links, bitext, 0, bitext.n_sentences());
            auto scores = without_gil([&] { return score_links(self, correction, bitext, links, n_threads, progress); });
            return nb::make_tuple(to_numpy(std::move(scores.posteriors), 2), to_numpy(std::move(scores.logprobs), 2));
          },
          "correction"_a.none(), "source"_a, "target"_a, "points"_a, "offsets"_a, "n_threads"_a, "progress"_a.none(),
          "Both posteriors of each link, and log p(target | source), log p(source | target) of each sentence pair.");

  nb::class_<AlignerOptions>(m, "AlignerOptions", "Options of the training of alignment models.")
      .def(nb::init<float, float, float, int>(), nb::kw_only(), "null_probability"_a, "smoothing"_a, "freedom"_a,
           "max_length"_a);

  nb::class_<BoundPrior>(m, "AlignerPrior", "Prior counts of word pairs.")
      .def(nb::init<Ints, Words, Array2<float>, std::optional<BothWays>>(), nb::kw_only(), "starts"_a, "targets"_a,
           "counts"_a, "jumps"_a.none());

  nb::class_<BoundTraining>(m, "AlignerTraining", "Training in rounds.")
      .def(
          "__init__",
          [](BoundTraining* self, const BoundTokens& source, const BoundTokens& target, std::size_t n_source_words,
             std::size_t n_target_words, const AlignerOptions& options, const std::optional<BoundPrior>& prior,
             unsigned n_threads) {
            const auto bitext = view_bitext(source, target);
            const auto belief = prior ? prior->view_prior() : AlignerPrior{};
            std::optional<AlignerTraining> training;
            without_gil([&] { training.emplace(bitext, n_source_words, n_target_words, options, belief, n_threads); });
            new (self) BoundTraining{source, target, prior, std::move(*training)};
          },
          "source"_a, "target"_a, nb::kw_only(), "n_source_words"_a, "n_target_words"_a, "options"_a, "prior"_a.none(),
          "n_threads"_a)
      .def(
          "count",
          [](BoundTraining& self, bool chained, const Progress& progress) {
            const nb::gil_scoped_release release;
            self.training.count(chained, progress);
          },
          nb::kw_only(), "chained"_a, "progress"_a.none(), "Collect the expected counts of the corpus.")
      .def(
          "renew",
          [](BoundTraining& self, bool chained) {
            const nb::gil_scoped_release release;
            const auto logprobs = self.training.renew(chained);
            return std::pair(logprobs[kToTarget], logprobs[kToSource]);
          },
          nb::kw_only(), "chained"_a,
          "Compute the next model; returns the log-probabilities of the corpus before: p(target | source), the reverse.")
      .def(
          "take_model", [](BoundTraining& self) { return self.training.take_model(); },
          "Move the model out; nothing may be called after this.");
}

}  // namespace hyperbaton::bindings
