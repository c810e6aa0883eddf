#include <nanobind/stl/vector.h>

#include "base/half.hh"
#include "learn/gaussian_prior.hh"
#include "minimize.hh"
#include "next_position/jump_logprobs.hh"
#include "next_position/jump_training.hh"
#include "next_position/nine_class.hh"
#include "next_position/preorder.hh"
#include "next_position/remaining_rows.hh"
#include "texts.hh"

namespace hyperbaton::bindings {

namespace {

// Sentences and, if known, their visit orders, over borrowed arrays.
struct JumpText {
  TaggedText text;
  VisitsView visits;
  bool tagged;
};

nb::tuple to_tuple(Minimum&& minimum, std::size_t planes) {
  return nb::make_tuple(to_numpy(std::move(minimum.x), planes), to_numpy(std::move(minimum.objective)));
}

// An index of features with its number of features, and whether these have tags.
struct BoundJumpFeatures {
  JumpFeatures features;
  std::size_t size;
  bool tagged;
};

// log P(NP | CP) of all jumps, with a weight for each feature and plane.
template <class Value>
auto logprobs_of(const JumpText& jumps, const BoundJumpFeatures& features, std::span<const Value> weights,
                 std::size_t n_features, std::size_t planes, unsigned n_threads) {
  if (n_features != kJumpConstants + features.size || (planes != 1 && planes != 3))
    throw Error("the weights do not match the features");
  if (features.tagged != jumps.tagged) throw Error("tags must be given if and only if the features have tags");
  std::vector<double> logprobs(static_cast<std::size_t>(jump_starts(jumps.text.words.offsets).back()));
  without_gil([&] { jump_logprobs(jumps.text, features.features, weights, planes, logprobs, n_threads, make_progress()); });
  return to_numpy(std::move(logprobs));
}

// An objective that is computed elsewhere: function(weights) returns the value and the gradient.
struct SummedObjective {
  nb::callable function;
  std::vector<double> guess;
  unsigned threads;
  std::size_t n_planes;

  unsigned n_threads() const { return threads; }
  std::size_t planes() const { return n_planes; }
  std::vector<double> curvature(const Progress&) const { return guess; }
  double operator()(std::span<const double> weights, std::span<double> gradient, const Progress&) const {
    const nb::gil_scoped_acquire acquire;
    const auto both =
        nb::cast<nb::tuple>(function(to_numpy(std::vector<double>(weights.begin(), weights.end()), n_planes)));
    const auto sum = nb::cast<Array2<double>>(both[1]);
    if (sum.size() != gradient.size()) throw Error("the gradient does not match the weights");
    std::copy_n(sum.data(), sum.size(), gradient.begin());
    return nb::cast<double>(both[0]);
  }
};

// Lists of features in arrays of Python.
struct BoundLists {
  Bytes counts;
  std::optional<Words> ids;
  std::optional<Bytes> packed;
  Ints starts, n_ids;
  Words order;

  KeptLists kept() const {
    return {.counts = view(counts),
            .ids = ids ? view(*ids) : std::span<const std::uint32_t>{},
            .packed = packed ? view(*packed) : std::span<const std::uint8_t>{},
            .starts = view(starts),
            .n_ids = view(n_ids),
            .order = view(order)};
  }
};

std::vector<double> checked(const JumpObjective& objective, const Array2<double>& weights) {
  if (weights.size() != objective.n_parameters() || weights.shape(1) != objective.planes())
    throw Error("the weights do not match the features");
  return copied(weights);
}

template <class Objective>
nb::tuple lbfgs(const Objective& objective, std::vector<double> start, double variance, const MinimizeOptions& options,
                const nb::object& checkpoint, const Progress& progress) {
  auto checkpoints = make_checkpoints(checkpoint);
  auto minimum = without_gil([&] {
    return minimize_with_prior(objective, std::move(start), variance, options, progress, std::move(checkpoints));
  });
  return to_tuple(std::move(minimum), objective.planes());
}

}  // namespace

HYPERBATON_BINDINGS(next_position) {
  using namespace nb::literals;

  nb::class_<JumpText>(m, "JumpText", "Sentences, their tags and their visit orders, over borrowed arrays.")
      .def(
          "__init__",
          // noconvert: a converted copy would be freed while views refer to it.
          [](JumpText* self, const BoundTokens& tokens, const std::optional<Words>& tags, const Shorts& visits,
             const Ints& visit_offsets) {
            new (self) JumpText{.text = {tokens.tokens(), tags ? view(*tags) : std::span<const std::uint32_t>{}},
                                .visits = {view(visits), view(visit_offsets)},
                                .tagged = tags.has_value()};
            check_jumps(self->text, self->visits);
          },
          "tokens"_a, "tags"_a.noconvert().none(), "visits"_a.noconvert(), "visit_offsets"_a.noconvert(),
          nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>(), nb::keep_alive<1, 4>(), nb::keep_alive<1, 5>());

  m.def(
      "count_jump_features",
      [](const JumpText& jumps, std::uint32_t min_count, std::optional<std::size_t> bytes, unsigned n_threads,
         const Progress& progress) {
        return to_numpy(without_gil([&] {
          return count_jump_features(jumps.text, jumps.visits, {min_count, bytes.value_or(kAnyMemory), n_threads},
                                     progress);
        }));
      },
      "jumps"_a, nb::kw_only(), "min_count"_a, "bytes"_a = nb::none(), "n_threads"_a, "progress"_a.none(),
      "Sorted keys of the features of jumps that occur often enough.");

  m.def(
      "jump_starts", [](const Ints& offsets) { return to_numpy(jump_starts(view(offsets))); }, "offsets"_a,
      "Where the jumps of each sentence start among those of a text, and their number.");

  nb::class_<FeatureNumbers>(m, "FeatureNumbers", "Numbers of features in the order in which sentences first have them.")
      .def(nb::init<std::size_t, std::size_t, std::size_t>(), nb::kw_only(), "n_features"_a, "n_first"_a, "n_last"_a)
      .def(
          "order", [](FeatureNumbers& self) { return to_numpy(self.order()); },
          "The feature of each number; features that no sentence has are numbered now.");

  nb::class_<BoundJumpFeatures>(m, "JumpFeatures", "Finds the features of sentences in a feature space.")
      .def(
          "__init__",
          [](BoundJumpFeatures* self, const Keys& keys, bool tagged) {
            new (self) BoundJumpFeatures{JumpFeatures(view(keys), tagged), keys.size(), tagged};
          },
          "keys"_a.noconvert(), nb::kw_only(), "tagged"_a, nb::keep_alive<1, 2>())
      .def(
          "lists",
          [](const BoundJumpFeatures& self, const JumpText& jumps, FeatureNumbers* numbers, std::size_t begin,
             std::size_t end, unsigned n_threads, const Progress& progress) {
            if (begin > end || end > jumps.text.size()) throw Error("there are no such sentences");
            auto found = without_gil([&] {
              return feature_lists(jumps.text, jumps.visits, self.features, numbers, begin, end, n_threads, progress);
            });
            return arrays(std::move(found.counts), std::move(found.ids), std::move(found.n_ids));
          },
          "jumps"_a, "numbers"_a.none(), "begin"_a, "end"_a, nb::kw_only(), "n_threads"_a, "progress"_a.none(),
          "For sentences [begin, end) that have jumps: the number of features of each list, the features, and their number "
          "per sentence.")
      .def(
          "packed_lists",
          [](const BoundJumpFeatures& self, const JumpText& jumps, FeatureNumbers& numbers, std::size_t begin,
             std::size_t end, unsigned n_threads, const Progress& progress) {
            if (begin > end || end > jumps.text.size()) throw Error("there are no such sentences");
            auto found = without_gil([&] {
              return packed_feature_lists(jumps.text, jumps.visits, self.features, numbers, begin, end, n_threads,
                                          progress);
            });
            return arrays(std::move(found.counts), std::move(found.packed), std::move(found.n_bytes),
                          std::move(found.n_ids));
          },
          "jumps"_a, "numbers"_a, "begin"_a, "end"_a, nb::kw_only(), "n_threads"_a, "progress"_a.none(),
          "Packed feature lists of the next sentences: counts of lists, bytes of all, bytes and features of each "
          "sentence.");

  m.def(
      "jump_logprobs",
      [](const JumpText& jumps, const BoundJumpFeatures& features, const Array2<double>& weights, unsigned n_threads) {
        return logprobs_of<double>(jumps, features, view(weights), weights.shape(0), weights.shape(1), n_threads);
      },
      "jumps"_a, "features"_a, "weights"_a, nb::kw_only(), "n_threads"_a,
      "log P(NP | CP) of all jumps, sentence by sentence; weights in half precision are given by their bits.");
  m.def(
      "jump_logprobs",
      [](const JumpText& jumps, const BoundJumpFeatures& features, const Array2<std::uint16_t>& weights,
         unsigned n_threads) {
        const std::span halves(reinterpret_cast<const Half*>(weights.data()), weights.size());
        return logprobs_of<Half>(jumps, features, halves, weights.shape(0), weights.shape(1), n_threads);
      },
      "jumps"_a, "features"_a, "weights"_a, nb::kw_only(), "n_threads"_a);

  nb::class_<BoundLists>(m, "KeptLists", "Precomputed lists of features, over borrowed arrays.")
      .def(nb::init<Bytes, std::optional<Words>, std::optional<Bytes>, Ints, Ints, Words>(), nb::kw_only(), "counts"_a,
           "ids"_a = nb::none(), "packed"_a = nb::none(), "starts"_a, "n_ids"_a, "order"_a);

  nb::class_<JumpObjective>(m, "JumpObjective", "-sum log P(NP | CP) over all jumps of a corpus.")
      .def(
          "__init__",
          [](JumpObjective* self, const JumpText& jumps, const Keys& keys, std::size_t planes, bool remaining,
             bool coverage, unsigned n_threads) {
            const nb::gil_scoped_release release;
            const JumpObjectiveOptions options{
                .planes = planes, .remaining = remaining, .coverage = coverage, .n_threads = n_threads};
            new (self) JumpObjective(jumps.text, jumps.visits, view(keys), options);
          },
          "jumps"_a, "keys"_a.noconvert(), nb::kw_only(), "planes"_a, "remaining"_a, "coverage"_a, "n_threads"_a,
          nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>())
      .def_static(
          "over_lists",
          [](const JumpText& jumps, const BoundLists& lists, std::size_t planes, bool remaining, bool coverage,
             unsigned n_threads) {
            const nb::gil_scoped_release release;
            const JumpObjectiveOptions options{
                .planes = planes, .remaining = remaining, .coverage = coverage, .n_threads = n_threads};
            return JumpObjective(jumps.text, jumps.visits, lists.kept(), options);
          },
          "jumps"_a, "lists"_a, nb::kw_only(), "planes"_a, "remaining"_a, "coverage"_a, "n_threads"_a,
          nb::keep_alive<0, 1>(), nb::keep_alive<0, 2>(), "The objective over precomputed features.")
      .def(
          "curvature",
          [](const JumpObjective& self) {
            return to_numpy(without_gil([&] { return self.curvature(make_progress()); }), self.planes());
          },
          "An estimate of the diagonal of the Hessian.")
      .def(
          "__call__",
          [](const JumpObjective& self, const Array2<double>& weights) {
            const auto w = checked(self, weights);
            std::vector<double> gradient(w.size());
            const auto value = without_gil([&] { return self(w, gradient, make_progress()); });
            return nb::make_tuple(value, to_numpy(std::move(gradient), self.planes()));
          },
          "weights"_a, "The sum and its gradient.")
      .def(
          "lbfgs",
          [](const JumpObjective& self, const Array2<double>& start, double variance, std::size_t memory,
             std::size_t max_passes, double tolerance, double gain, const nb::object& checkpoint,
             const Progress& progress) {
            return lbfgs(self, checked(self, start), variance,
                         {.memory = memory, .max_passes = max_passes, .tolerance = tolerance, .l1 = 0, .gain = gain},
                         checkpoint, progress);
          },
          "start"_a, nb::kw_only(), "variance"_a, "memory"_a, "max_passes"_a, "tolerance"_a, "gain"_a,
          "checkpoint"_a.none(), "progress"_a.none(), "Weights by L-BFGS, and the objective after each step.")
      .def_prop_ro("adagrad_step", &adagrad_step, "A step of AdaGrad for any text.")
      .def(
          "count_sentences",
          [](const JumpObjective& self) {
            return to_numpy(without_gil([&] { return count_sentences(self, make_progress()); }));
          },
          "The number of sentences in which each feature occurs.")
      .def(
          "adagrad",
          [](const JumpObjective& self, const Array2<double>& weights, const Array2<double>& squares,
             const Array<double>& n_sentences, double step, double variance, std::size_t number, std::size_t n_passes,
             const Progress& progress) {
            const AdagradState state{.weights = view(weights), .squares = view(squares), .n_sentences = view(n_sentences)};
            const std::size_t n = self.n_parameters();
            if (state.weights.size() != n || state.squares.size() != n || state.n_sentences.size() * self.planes() != n)
              throw Error("the weights do not match the features");
            const AdagradPass options{.step = step, .variance = variance, .pass = number, .n_passes = n_passes};
            auto sums = without_gil([&] { return adagrad_pass(self, state, options, progress); });
            return nb::make_tuple(sums.loss, sums.n_parts, to_numpy(std::move(sums.weighted), self.planes()),
                                  to_numpy(std::move(sums.shares), self.planes()),
                                  to_numpy(std::move(sums.squares), self.planes()));
          },
          "weights"_a, "squares"_a, "n_sentences"_a, nb::kw_only(), "step"_a, "variance"_a, "number"_a, "n_passes"_a,
          "progress"_a = nb::none(),
          "The loss during a pass of AdaGrad, the number of parts, and sums over them: weights times shares, shares, and "
          "squared derivatives.");

  nb::class_<SummedObjective>(m, "SummedObjective", "An objective whose sums are computed by a function.")
      .def(
          "__init__",
          [](SummedObjective* self, const nb::callable& function, const Array2<double>& curvature, unsigned n_threads) {
            new (self) SummedObjective{function, copied(curvature), n_threads, curvature.shape(1)};
          },
          "function"_a, "curvature"_a, nb::kw_only(), "n_threads"_a)
      .def(
          "lbfgs",
          [](const SummedObjective& self, const Array2<double>& start, double variance, std::size_t memory,
             std::size_t max_passes, double tolerance, double gain, const nb::object& checkpoint,
             const Progress& progress) {
            if (start.size() != self.guess.size()) throw Error("the curvature does not match the weights");
            return lbfgs(self, copied(start), variance,
                         {.memory = memory, .max_passes = max_passes, .tolerance = tolerance, .l1 = 0, .gain = gain},
                         checkpoint, progress);
          },
          "start"_a, nb::kw_only(), "variance"_a, "memory"_a, "max_passes"_a, "tolerance"_a, "gain"_a,
          "checkpoint"_a.none(), "progress"_a.none(), "Weights by L-BFGS, and the objective after each step.");

  m.attr("N_JUMP_CONSTANTS") = kJumpConstants;
  m.attr("N_CANDIDATE_CLASSES") = kCandidateClasses;
  m.attr("MAX_JUMP_CHUNKS") = kMaxJumpChunks;
  m.def(
      "remaining_rows",
      [](const JumpText& jumps, const Array<double>& scores, const std::optional<Array<double>>& classes,
         unsigned n_threads) {
        const auto offsets = jumps.text.words.offsets;
        auto starts = remaining_starts(offsets, jumps.visits);
        std::vector<double> rows(static_cast<std::size_t>(starts.back()));
        without_gil([&] {
          remaining_rows(offsets, jumps.visits, view(scores), classes ? view(*classes) : std::span<const double>{}, rows,
                         n_threads);
        });
        return arrays(std::move(rows), std::move(starts));
      },
      "jumps"_a, "scores"_a, "classes"_a.none(), nb::kw_only(), "n_threads"_a,
      "log P(NP | CP, visited) of BOS and each visited word, sentence by sentence, and where sentences start.");

  nb::enum_<Bound>(m, "Bound").value("outbound", Bound::Out).value("inbound", Bound::In);

  m.def(
      "count_position_features",
      [](const JumpText& jumps, Bound bound, std::uint32_t min_count, unsigned n_threads, const Progress& progress) {
        return to_numpy(without_gil([&] {
          return count_position_features(jumps.text, jumps.visits, bound, {min_count, kAnyMemory, n_threads}, progress);
        }));
      },
      "jumps"_a, nb::kw_only(), "bound"_a, "min_count"_a, "n_threads"_a, "progress"_a.none(),
      "Sorted keys of the features of positions that occur often enough.");

  m.def(
      "position_rows",
      [](const JumpText& jumps, const Keys& keys, Bound bound, unsigned n_threads) {
        auto rows = without_gil([&] { return position_rows(jumps.text, bound, view(keys), n_threads); });
        return arrays(std::move(rows.starts), std::move(rows.indices));
      },
      "jumps"_a, "keys"_a, nb::kw_only(), "bound"_a, "n_threads"_a, "Features of all positions, as offsets and numbers.");

  m.def(
      "position_classes",
      [](const JumpText& jumps, Bound bound) { return to_numpy(position_classes(jumps.text, jumps.visits, bound)); },
      "jumps"_a, nb::kw_only(), "bound"_a, "The class of the jump of each position, -1 for none.");

  m.def(
      "nine_class_logprobs",
      [](const Ints& offsets, const std::optional<Array2<double>>& outbound, const std::optional<Array2<double>>& inbound,
         unsigned n_threads) {
        const std::size_t n = (offsets.size() - 1 + static_cast<std::size_t>(view(offsets).back())) * kNineClasses;
        for (const auto& one : {outbound, inbound})
          if (one && one->size() != n) throw Error("there must be nine values for each position");
        const auto values = [](const std::optional<Array2<double>>& one) {
          return one ? std::span<const double>(one->data(), one->size()) : std::span<const double>{};
        };
        std::vector<double> logprobs(static_cast<std::size_t>(jump_starts(view(offsets)).back()));
        without_gil([&] { nine_class_logprobs(view(offsets), values(outbound), values(inbound), logprobs, n_threads); });
        return to_numpy(std::move(logprobs));
      },
      "offsets"_a, "outbound"_a.none(), "inbound"_a.none(), nb::kw_only(), "n_threads"_a,
      "log P(NP | CP) of all jumps from the classifiers' log-probabilities.");

  m.def(
      "preorder",
      [](const Array<double>& scores, const Ints& offsets, std::size_t beam, bool complete, unsigned n_threads) {
        if (offsets.size() == 0) throw Error("offsets must not be empty");
        std::vector<std::uint16_t> orders(static_cast<std::size_t>(view(offsets).back()));
        std::vector<double> logprobs(offsets.size() - 1);
        without_gil([&] {
          preorder(view(scores), view(offsets), {.beam = beam, .complete = complete, .n_threads = n_threads}, orders,
                   logprobs, make_progress());
        });
        return arrays(std::move(orders), std::move(logprobs));
      },
      "scores"_a, "offsets"_a, nb::kw_only(), "beam"_a, "complete"_a, "n_threads"_a,
      "The most probable order of each sentence, and its log-probability.");

  m.def(
      "complete_orders",
      [](const Shorts& visits, const Ints& visit_offsets, const Ints& offsets) {
        if (offsets.size() == 0 || visit_offsets.size() != offsets.size()) throw Error("every sentence needs an order");
        const auto visited = view(visits);
        const auto starts = view(visit_offsets), ends = view(offsets);
        std::vector<std::uint16_t> orders(static_cast<std::size_t>(ends.back()));
        const std::span<std::uint16_t> all(orders);
        for (std::size_t s = 0; s + 1 < ends.size(); ++s)
          attach_unvisited(
              visited.subspan(static_cast<std::size_t>(starts[s]), static_cast<std::size_t>(starts[s + 1] - starts[s])),
              all.subspan(static_cast<std::size_t>(ends[s]), static_cast<std::size_t>(ends[s + 1] - ends[s])));
        return to_numpy(std::move(orders));
      },
      "visits"_a, "visit_offsets"_a, "offsets"_a, "Orders of some words as orders of all words of their sentences.");
}

}  // namespace hyperbaton::bindings
