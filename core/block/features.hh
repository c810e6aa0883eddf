// The feature space of the block model: which (question, target, jump) occurred often enough on the training paths.
//
// A key identifies a question and a target, and is followed by the jumps with which it is a feature. Feature p of key k,
// with starts[k] <= p < starts[k + 1], has the jump class jumps[p].
#pragma once

#include "block/table.hh"
#include "features/key_counting.hh"

namespace hyperbaton {

// The tag of a target is that of its last word; the empty target has a separate tag.
inline constexpr std::uint32_t kEmptyTag = kNone32 - 1;

inline std::uint64_t feature_key(const Question& question, std::uint32_t target, std::uint32_t target_tag) {
  return combine(question.key(), about_tags(question.ask) ? target_tag : target);
}

struct BlockFeatures {
  std::vector<std::uint64_t> keys;  // sorted
  std::vector<std::int64_t> starts;
  std::vector<std::uint8_t> jumps;
  std::vector<std::uint32_t> counts;  // of features
  // Question and target (or its tag) of each key.
  std::vector<std::uint8_t> asks;
  std::vector<std::uint32_t> sources, as, bs, targets;
};

BlockFeatures find_block_features(const BlockBitext& bitext, const BlockLookup& lookup, FamilySet families,
                                  const Counting& options, const Progress& progress);

struct BlockFeaturesView {
  std::span<const std::uint64_t> keys;
  std::span<const std::int64_t> starts;
  std::span<const std::uint8_t> jumps;
  std::span<const std::uint8_t> asks;
  std::span<const std::uint32_t> sources, as, bs, targets;

  std::size_t size() const { return keys.size(); }
  Question question(std::size_t k) const {
    return {.ask = static_cast<Ask>(asks[k]), .source = sources[k], .a = as[k], .b = bs[k]};
  }
  void check() const {
    const auto as_many = [&](const auto&... columns) { return ((columns.size() == keys.size()) && ...); };
    if (!as_many(asks, sources, as, bs, targets) || starts.size() != keys.size() + 1 ||
        !are_offsets(starts, jumps.size()) || std::ranges::any_of(jumps, [](std::uint8_t j) { return j >= kJumps; }) ||
        std::ranges::any_of(asks, [](std::uint8_t ask) { return ask >= kAsks; }))
      throw Error("the arrays of the features do not match: train the model again");
  }
};

// All questions asked at a step, in one place for training and decoding.
class Asker {
 public:
  Asker(const BlockLookup& lookup, FamilySet families) : lookup_(lookup), families_(families) {}
  // The questions of a step; `source` is the number of its source phrase.
  std::span<const Question> ask(const BlockSentence& sentence, SourceSpan span, const History& history) {
    const auto begin = to_size(span.begin), end = to_size(span.end);
    source_ = lookup_.source(sentence.words.subspan(begin, end - begin));
    questions_.clear();
    ask_fixed(sentence, span, source_, families_, questions_);
    sentence.neighbourhood(span, around_);
    ask_moving(sentence, span, around_, source_, history, families_, questions_);
    return questions_;
  }
  std::uint32_t source() const { return source_; }

 private:
  const BlockLookup& lookup_;
  FamilySet families_;
  std::uint32_t source_ = kNone32;
  Neighbourhood around_;
  std::vector<Question> questions_;
};

// Call use(questions, source phrase, target, jump class, span, tag) for each step of a sentence pair's path.
class StepReader {
 public:
  StepReader(const BlockBitext& bitext, const BlockLookup& lookup, FamilySet families)
      : asker_(lookup, families), reader_(bitext) {}
  template <class Use>
  void read(std::size_t s, const Use& use) {
    reader_.read(
        s, [&](const BlockSentence& sentence, SourceSpan span, Words words, std::size_t jump, const History& history) {
          const auto questions = asker_.ask(sentence, span, history);
          use(questions, asker_.source(), words, jump, span, sentence.tag(span));
        });
  }

 private:
  Asker asker_;
  PathReader reader_;
};

}  // namespace hyperbaton
