// A trained block model: p(t, j | s) of the steps of a sentence.
#pragma once

#include "block/prior.hh"
#include "block/question_index.hh"

namespace hyperbaton {

struct BlockModelParts {
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
  BlockModel(const BlockLookup& lookup, const BlockModelParts& parts)
      : parts_(parts), lookup_(lookup), index_(lookup, parts.features) {
    if (parts.weights.size() != parts.features.jumps.size()) throw Error("the weights do not fit the features");
    for (std::size_t i = 0; i < parts.weights.size(); ++i) {
      const auto cell = index_.cells()[i];
      terms_.push_back({cell / static_cast<Cell>(kJumps), static_cast<std::uint8_t>(cell % kJumps),
                        parts.weights[index_.features()[i]]});
    }
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
    std::vector<JumpRow> logs;  // of each candidate: log p0 and the weights of the fixed questions
    std::vector<JumpRow> exps;  // exp(logs)
    std::vector<double> sums;   // of the exps of each candidate
    double sum = 0;             // of all
  };
  // What an answered question adds to the score of a candidate with a jump.
  struct Term {
    std::uint32_t candidate;
    std::uint8_t jump;
    double weight;
  };
  // What it does to all candidates of a place, in their order.
  using Effect = std::span<const Term>;
  // Scores of places after some history, one behind the other: only rows that differ from the places'.
  struct Changes {
    std::vector<std::uint32_t> candidates;
    std::vector<JumpRow> logs;
    // Of each candidate, while rows are made: its row, if any, and the jumps that differ.
    struct Own {
      std::uint32_t row, jumps;
    };
    std::vector<Own> own;
  };
  struct Scored {
    double sum;               // of exp(logs) of all candidates
    std::size_t first, last;  // changes
  };

  // Whether the answered question is in some feature.
  bool knows(const Question& question) const { return !index_[question].empty(); }
  Place place(const BlockSentence& sentence, SourceSpan span) const;
  // `made` holds terms that the model has not itself: those of questions about tags.
  Effect effect(const Place& place, const Question& question, std::vector<Term>& made) const;
  Scored score(const Place& place, std::span<const Effect> effects, Changes& changes) const;
  BlockTarget target(const Place& place, std::span<const WordId> words) const;
  // log p(t, j | s) of all jumps j. A target that is no candidate is one more, and is asked the moving questions too.
  JumpRow logprobs(const Place& place, std::span<const Question> moving, const Changes& changes, const Scored& scored,
                   const BlockTarget& target) const;

 private:
  std::uint32_t target_of(const Place& place, std::size_t candidate) const {
    return lookup_.table().targets[place.first + candidate];
  }

  Effect effect(QuestionIndex::Terms terms) const {
    return std::span(terms_).subspan(terms.first, terms.last - terms.first);
  }

  BlockModelParts parts_;
  const BlockLookup& lookup_;
  QuestionIndex index_;
  std::vector<Term> terms_;  // with rows in place of candidates
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
