#include <nanobind/stl/vector.h>

#include <unordered_map>

#include "block.hh"
#include "decode_features.hh"

namespace hyperbaton::bindings {

namespace {

// Sentences and options in the units of an operation model, with their arrays.
struct BoundOperationUnits {
  NgramModel model;
  const Vocabulary* names;
  BoundTokens source;
  Spelling source_names;
  BoundTokens targets;
  Spelling target_names;

  OperationUnits units() const {
    return {
        .model = model, .names = names, .source = spelled(source, source_names), .targets = spelled(targets, target_names)};
  }
};

class BoundOperations : public BoundFeature {
 public:
  BoundOperations(const std::vector<nb::handle_t<BoundOperationUnits>>& units, const BoundBlockOptions& options, Ints pairs,
                  PhraseOperationsCache* cache, float share, Floats log_of_class, const std::vector<float>& weights)
      : options_(options), pairs_(std::move(pairs)), log_of_class_(std::move(log_of_class)) {
    for (const auto& handle : units) {
      units_.push_back(nb::borrow(handle));
      input_.units.push_back(nb::cast<const BoundOperationUnits&>(handle).units());
    }
    input_.options = options_.options();
    input_.pairs = view(pairs_);
    input_.cache = cache;
    input_.share = share;
    input_.log_of_class = view(log_of_class_);
    input_.n_values = weights.size();
    input_.complete();
    std::ranges::copy(weights, weights_.begin());
  }
  BoundOperations(const BoundOperations&) = delete;
  BoundOperations& operator=(const BoundOperations&) = delete;

  FeatureInput input() const override { return WeightedOperations{.input = &input_, .weights = weights_}; }
  void check(const TranslationOptions& options, std::span<const std::int64_t> source_offsets) const override {
    if (input_.options.begin.size() != options.size() || input_.options.offsets.size() != source_offsets.size())
      throw Error("options were computed for a different text");
  }

  // Values of steps of a sentence, and the states after them; 0 is the state at the start.
  nb::tuple score(std::size_t sentence, const Ints& states, const Array2<std::uint8_t>& coverage, const Ints& options) {
    auto& own = sentences_[sentence];
    if (!own) own = std::make_unique<OperationSentence>(input_, sentence);
    const auto n_words = static_cast<int>(coverage.shape(1));
    std::vector<float> values;
    std::vector<std::int64_t> behind;
    for (std::size_t i = 0; i < options.size(); ++i) {
      std::vector<std::uint32_t> bits(Coverage::n_words(n_words), 0);
      for (int w = 0; w < n_words; ++w)
        if (coverage(i, static_cast<std::size_t>(w))) Coverage::set(bits.data(), {w, w + 1});
      const auto state = static_cast<std::uint64_t>(states(i));
      const auto option = static_cast<std::uint32_t>(options(i) - input_.options.offsets[sentence]);
      const auto [counts, after] =
          own->score(Coverage(bits.data(), n_words),
                     {static_cast<std::uint32_t>(state >> 32), static_cast<std::uint32_t>(state)}, option);
      const auto all = counts.values();
      values.insert(values.end(), all.begin(), all.end());
      behind.push_back(static_cast<std::int64_t>(static_cast<std::uint64_t>(after.at) << 32 | after.history));
    }
    return nb::make_tuple(to_numpy(std::move(values), kOperationValues), to_numpy(std::move(behind)));
  }

 private:
  std::vector<nb::object> units_;
  BoundBlockOptions options_;
  Ints pairs_;
  Floats log_of_class_;
  OperationInput input_;
  std::array<float, kOperationValues> weights_{};
  std::unordered_map<std::size_t, std::unique_ptr<OperationSentence>> sentences_;
};

}  // namespace

// Registered after "decode_features_block", which defines options.
HYPERBATON_BINDINGS(decode_features_operations) {
  using namespace nb::literals;

  nb::class_<BoundOperationUnits>(m, "OperationUnits", "Sentences and options in the units of an operation model.")
      .def(nb::init<NgramModel, const Vocabulary*, BoundTokens, Spelling, BoundTokens, Spelling>(), nb::kw_only(),
           "model"_a, "names"_a, "source"_a, "source_names"_a, "targets"_a, "target_names"_a, nb::keep_alive<1, 2>(),
           nb::keep_alive<1, 3>());

  nb::class_<PhraseOperationsCache>(m, "PhraseOperationsCache",
                                    "A cache of the operations of phrase pairs, for one table and one operation model.")
      .def(nb::init<>());

  nb::class_<BoundOperations, BoundFeature>(m, "Operations", "Scores of operations by one or two operation models.")
      .def(nb::init<const std::vector<nb::handle_t<BoundOperationUnits>>&, const BoundBlockOptions&, Ints,
                    PhraseOperationsCache*, float, Floats, const std::vector<float>&>(),
           nb::kw_only(), "units"_a, "options"_a, "pairs"_a, "cache"_a.none(), "share"_a, "log_of_class"_a, "weights"_a,
           nb::keep_alive<1, 5>())
      .def("score", &BoundOperations::score, nb::kw_only(), "sentence"_a, "states"_a, "coverage"_a, "options"_a,
           "Values (n, 5) of steps of a sentence, and the states after them; 0 is the state at the start.");
}

}  // namespace hyperbaton::bindings
