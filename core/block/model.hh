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
  std::span<const std::uint32_t> word_tags;  // of target words; 0 beyond its end; empty without target tags
  std::size_t max_targets;                   // 0: no limit
};

// The target of a step as the model sees it.
struct BlockTarget {
  std::uint32_t candidate;  // its index among the candidates of the source phrase, or kNone32
  std::uint32_t pair, target, tag;
};

class BlockModel {
 public:
  BlockModel(const BlockLookup& lookup, const BlockModelParts& parts)
      : parts_(parts), lookup_(lookup), index_(lookup, parts.features) {
    if (parts.weights.size() != parts.features.jumps.size()) throw Error("the weights do not match the features");
    for (std::size_t i = 0; i < parts.weights.size(); ++i) {
      const auto cell = index_.cells()[i];
      terms_.push_back({.candidate = cell / static_cast<Cell>(kJumps),
                        .jump = static_cast<std::uint8_t>(cell % kJumps),
                        .weight = parts.weights[index_.features()[i]]});
    }
    if (parts.prior.by_length.size() < kJumps) throw Error("the prior has no rows for lengths");
  }

  const BlockLookup& lookup() const { return lookup_; }
  FamilySet families() const { return parts_.families; }

  // A span of a sentence with everything that stays constant while the sentence is translated.
  struct Place {
    SourceSpan span;
    std::uint32_t source, tag;
    std::uint32_t first, n;  // pairs of the candidates
    const double* jumps;     // p(j) of all blocks with this tag or length
    Neighbourhood around;
    std::vector<Question> fixed;
    std::vector<JumpRow> logs;  // of each candidate: log p0 and the weights of the fixed questions
    std::vector<JumpRow> exps;  // exp(logs)
    std::vector<double> sums;   // of the exps of each candidate
    double sum = 0;             // of all
  };
  // The contribution of an answered question to the score of a candidate with a jump.
  struct Term {
    std::uint32_t candidate;
    std::uint8_t jump;
    double weight;
  };
  // Its contributions to all candidates of a place, in their order.
  using Effect = std::span<const Term>;
  // Concatenated scores of places after some history: only rows that differ from the places' own.
  struct Changes {
    std::vector<std::uint32_t> candidates;
    std::vector<JumpRow> logs;
    // For each candidate, while rows are being made: its row, if any, and the jumps that differ.
    struct Own {
      std::uint32_t row, jumps;
    };
    std::vector<Own> own;
  };
  struct Scored {
    double sum;               // of exp(logs) of all candidates
    std::size_t first, last;  // changes
  };

  // Whether the answered question occurs in a feature.
  bool knows(const Question& question) const { return !index_[question].empty(); }
  Place place(const BlockSentence& sentence, SourceSpan span) const;
  // `made` contains the terms that the model does not store: those of questions about tags.
  Effect effect(const Place& place, const Question& question, std::vector<Term>& made) const;
  Scored score(const Place& place, std::span<const Effect> effects, Changes& changes) const;
  BlockTarget target(const Place& place, std::span<const WordId> words) const;
  // log p(t, j | s) of all jumps j. A target that is not a candidate is added, and is also asked the moving questions.
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
  std::vector<Term> terms_;  // with rows instead of candidates
};

// The tag of a target phrase.
inline std::uint32_t target_tag(std::span<const WordId> words, std::span<const std::uint32_t> word_tags) {
  if (words.empty()) return kEmptyTag;
  return words.back() < word_tags.size() ? word_tags[words.back()] : 0;
}

// Scores of a model for the paths of a bitext, a value for each step.
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
