#include "block.hh"
#include "decode/block_scorer.hh"
#include "decode_features.hh"
#include "decode_options.hh"

namespace hyperbaton::bindings {

namespace {

// The block model as a scorer of the steps of some sentences.
class BlockSteps : public BoundSteps {
 public:
  BlockSteps(const BoundBlockModel& model, const BoundBlockText& text, const BoundBlockOptions& options, float weight)
      : BoundSteps(weight), options_(options), scorer_(model.model, text.text, options_.options()) {}
  void score(const StepBatch& steps, std::span<float> scores, std::span<std::int64_t> states) const override {
    scorer_.score(steps, scores, states);
  }
  float estimate(std::size_t sentence, std::int64_t option) const override { return scorer_.estimate(sentence, option); }
  void forget(std::size_t sentence) const override { scorer_.forget(sentence); }

 private:
  BoundBlockOptions options_;
  BlockScorer scorer_;
};

}  // namespace

// Registered after "decode_features", which defines step scorers.
HYPERBATON_BINDINGS(decode_features_block) {
  using namespace nb::literals;

  nb::class_<BoundBlockOptions>(m, "BlockOptions", "Translation options as a block model sees them.")
      .def(nb::init<Ints, Shorts, Bytes, BoundTokens, Array2<std::uint16_t>, Ints>(), nb::kw_only(), "offsets"_a, "begin"_a,
           "length"_a, "targets"_a, "links"_a, "link_offsets"_a);

  nb::class_<BlockSteps, BoundSteps>(m, "BlockSteps", "Scores of steps by a block model.")
      .def(nb::init<const BoundBlockModel&, const BoundBlockText&, const BoundBlockOptions&, float>(), nb::kw_only(),
           "model"_a, "text"_a, "options"_a, "weight"_a, nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>());
}

}  // namespace hyperbaton::bindings
