// Scores of orientations in derivations (Huck et al. 2013): wherever two parts of a rule meet in target order, the last
// block of the one and the first block of the other have an orientation, as two phrases that are translated in turn. A
// state has the first and the last block of a hypothesis. Hierarchical orientations are those towards the largest
// contiguous run of parts on the other side (rule_blocks.hh).
#pragma once

#include "decode/features/orientation.hh"
#include "hierarchical/chart_feature.hh"

namespace hyperbaton {

class ChartOrientation {
 public:
  using Input = OptionScorer;
  ChartOrientation(std::span<const OptionScorer> scorers, std::size_t sentence, int n_words);

  static void check(const std::string& name, const OptionScorer& scorer, const OptionScorer& first,
                    std::span<const std::int64_t> source_offsets);
  std::size_t n_state() const { return kStateWords; }
  void combine(const AppliedRule& rule, std::uint32_t* state, double& score, float* values);

 private:
  static constexpr std::size_t kStateWords = 4;
  static constexpr std::uint32_t kNoRow = 0xffffffffU;
  struct Block {
    SourceSpan span{0, 0};
    std::uint32_t row = kNoRow;
  };
  // The first and the last block of a part.
  struct Ends {
    Block first, last;
  };
  Ends ends(const AppliedRule& rule, const RulePart& part) const;
  // Score the orientation between two blocks, the second one being the first of a part.
  void meet(const AppliedRule& rule, const Block& previous, const Block& next, const RulePart& part, double& score,
            float* values) const;
  // The first row with the same scores on a side.
  std::uint32_t canonical(std::uint32_t row, Side side, const SentenceBlocks& blocks);

  std::span<const OptionScorer> scorers_;
  // What the scorers need to know of the first and of the last block of a hypothesis.
  struct Needs {
    bool begin = false, end = false, row = false;
  };
  Needs first_, last_;
  std::array<std::vector<std::uint32_t>, kSides> canonical_;  // by row of the sentence
};

}  // namespace hyperbaton
