// The block model as a scorer of steps.
//
// An option is walked along its inner links, block by block, and its score is the sum of log p(t, j | s), so the score of
// a translation does not depend on its segmentation into phrases. Beyond the block itself, p depends on little: the
// coverage of the neighbouring words and parse nodes, and the last two target words if a feature contains them. Sums over
// all targets and jumps are cached for each combination that occurs.
#pragma once

#include <memory>

#include "base/u64_map.hh"
#include "block/model.hh"
#include "decode/features/step.hh"

namespace hyperbaton {

// Translation options as the block model sees them: target words have the model's numbers.
struct BlockOptions {
  std::span<const std::int64_t> offsets;  // options of sentence s are [offsets[s], offsets[s + 1])
  std::span<const std::uint16_t> begin;
  std::span<const std::uint8_t> length;
  TokensView targets;
  LinksView links;  // positions inside the phrases

  void check(const BlockText& text) const;
};

class BlockScorer : public StepScorer {
 public:
  BlockScorer(const BlockModel& model, const BlockText& text, const BlockOptions& options);
  ~BlockScorer() override;
  BlockScorer(const BlockScorer&) = delete;
  BlockScorer& operator=(const BlockScorer&) = delete;

  void score(const StepBatch& steps, std::span<float> scores, std::span<std::int64_t> states) const override;
  // The option's score if it immediately follows the preceding words, with nothing around it translated.
  float estimate(std::size_t sentence, std::int64_t option) const override;
  void forget(std::size_t sentence) const override;

 private:
  class Sentence;
  Sentence& sentence(std::size_t s) const;

  const BlockModel& model_;
  const BlockText text_;
  const BlockOptions options_;
  // One sentence is decoded by one thread at a time.
  mutable std::vector<std::unique_ptr<Sentence>> sentences_;
};

}  // namespace hyperbaton
