#include "block.hh"
#include "decode/block_scorer.hh"
#include "steps.hh"

namespace hyperbaton::bindings {

namespace {

// The block model as a scorer of the steps of some sentences.
class BlockSteps : public BoundSteps {
 public:
  BlockSteps(const BlockModel& model, const BlockText& text, const BlockOptions& options, float weight_)
      : BoundSteps(weight_), scorer_(model, text, options) {}
  void score(const StepBatch& steps, std::span<float> scores, std::span<std::int64_t> states) const override {
    scorer_.score(steps, scores, states);
  }
  float estimate(std::size_t sentence, std::int64_t option) const override { return scorer_.estimate(sentence, option); }
  void forget(std::size_t sentence) const override { scorer_.forget(sentence); }

 private:
  BlockScorer scorer_;
};

}  // namespace

// Behind "decode", which knows scorers of steps.
HYPERBATON_BINDINGS(decode_block) {
  using namespace nb::literals;

  nb::class_<BlockSteps, BoundSteps>(m, "BlockSteps", "Scores of steps by a block model, over borrowed arrays.")
      .def(
          "__init__",
          [](BlockSteps* self, const BoundBlockModel& model, const BoundBlockText& text, const Ints& offsets,
             const Shorts& begin, const Bytes& length, const Words& target_words, const Ints& target_offsets,
             const Array2<std::uint16_t>& links, const Ints& link_offsets, float weight) {
            const BlockOptions options{view(offsets),
                                       view(begin),
                                       view(length),
                                       {view(target_words), view(target_offsets)},
                                       view_links(links, link_offsets)};
            new (self) BlockSteps(model.model, text.text, options, weight);
          },
          nb::arg("model"), nb::arg("text"), nb::arg("offsets").noconvert(), nb::arg("begin").noconvert(),
          nb::arg("length").noconvert(), nb::arg("target_words").noconvert(), nb::arg("target_offsets").noconvert(),
          nb::arg("links").noconvert(), nb::arg("link_offsets").noconvert(), nb::kw_only(), "weight"_a,
          nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>(), nb::keep_alive<1, 4>(), nb::keep_alive<1, 5>(),
          nb::keep_alive<1, 6>(), nb::keep_alive<1, 7>(), nb::keep_alive<1, 8>(), nb::keep_alive<1, 9>(),
          nb::keep_alive<1, 10>());
}

}  // namespace hyperbaton::bindings
