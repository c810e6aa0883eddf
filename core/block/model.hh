// A trained block model: p(t, j | s) of the steps of a sentence.
#pragma once

#include "block/features.hh"
#include "block/prior.hh"

namespace hyperbaton {

struct BlockModelParts {
  BlockTableView table;
  BlockPrior prior;
  FamilySet families;
  BlockFeaturesView features;
  std::span<const double> weights;
  std::span<const std::uint32_t> word_tags;  // of target words, behind which all have 0; empty without target tags
  std::size_t max_targets;                   // 0 takes all
};

// The target of a step, as the model knows it.
struct BlockTarget {
  std::uint32_t candidate;  // its place among the candidates of the source phrase, kNone32 if it is none
  std::uint32_t pair, target, tag;
};

class BlockModel {
 public:
  explicit BlockModel(const BlockModelParts& parts) : parts_(parts), lookup_(parts.table), index_(parts.features.keys) {
    parts.table.check();
    parts.features.check();
    if (parts.weights.size() != parts.features.jumps.size()) throw Error("the weights do not fit the features");
    if (parts.prior.by_length.size() < kJumps) throw Error("the prior knows no lengths");
  }

  const BlockLookup& lookup() const { return lookup_; }
  FamilySet families() const { return parts_.families; }

  // A span of a sentence with all that does not change while the sentence is translated.
  struct Place {
    SourceSpan span;
    std::uint32_t source, tag;
    std::uint32_t first, n;  // pairs of the candidates
    const double* jumps;     // p(j) of all blocks like it
    Neighbourhood around;
    std::vector<Question> fixed;
    std::vector<double> logs;  // (candidates, 11): log p0 and the weights of the fixed questions
    std::vector<double> sums;  // of exp(logs) of each candidate
  };
  // What an answered question adds: the weights of its features with each candidate that has any.
  struct Effect {
    std::vector<std::uint32_t> candidates;  // increasing
    std::vector<JumpRow> rows;
  };
  // The scores of a place after some history: only rows that differ from the place's.
  struct Scored {
    double sum;                          // of exp(logs) of all candidates
    std::vector<std::uint32_t> changed;  // candidates, increasing
    std::vector<JumpRow> logs;
  };

  Place place(const BlockSentence& sentence, SourceSpan span) const;
  Effect effect(const Place& place, const Question& question) const;
  void score(const Place& place, std::span<const Effect* const> effects, Scored& scored) const;
  BlockTarget target(const Place& place, std::span<const WordId> words) const;
  // log p(t, j | s) of all jumps j. A target that is no candidate is one more.
  JumpRow logprobs(const Place& place, std::span<const Question> moving, const Scored& scored,
                   const BlockTarget& target) const;

 private:
  // Adds the weights of a target's features; says whether there are any.
  bool add(const Question& question, std::uint32_t target, std::uint32_t tag, double* row) const;
  std::uint32_t target_of(const Place& place, std::size_t candidate) const {
    return parts_.table.targets[place.first + candidate];
  }

  BlockModelParts parts_;
  BlockLookup lookup_;
  KeyIndex index_;
};

// The tag of a target phrase.
inline std::uint32_t target_tag(std::span<const WordId> words, std::span<const std::uint32_t> word_tags) {
  if (words.empty()) return kEmptyTag;
  return words.back() < word_tags.size() ? word_tags[words.back()] : 0;
}

// How a model sees the paths of a bitext, a value for each step.
struct PathScores {
  std::vector<std::uint32_t> sentence;
  std::vector<std::uint16_t> begin, end;
  std::vector<std::int8_t> jump;
  std::vector<double> logprob;       // log p(t, j | s)
  std::vector<double> jump_logprob;  // log p(j | s, t)
  std::vector<std::uint8_t> right;   // no other (t, j) is more probable
  std::vector<std::uint8_t> jump_right;
  std::vector<double> sum;  // of p over all (t, j)
};

PathScores score_paths(const BlockModel& model, const BlockBitext& bitext, unsigned n_threads, const Progress& progress);

}  // namespace hyperbaton
