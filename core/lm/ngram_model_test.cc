#include "lm/ngram_model.hh"

#include <cmath>
#include <vector>

#include "lm/build.hh"
#include "testing/testing.hh"

using namespace hyperbaton;

namespace {

// <unk> <s> </s> a b, with the bigrams "<s> a", "a b" and "b </s>" and the trigram "<s> a b".
struct ToyModel {
  std::vector<WordId> unigrams{0, 1, 2, 3, 4}, bigrams{1, 3, 3, 4, 4, 2}, trigrams{1, 3, 4};
  std::vector<float> p1{-2.0F, -99.0F, -1.0F, -0.5F, -0.75F}, b1{0.0F, -0.25F, 0.0F, -0.125F, -0.5F};
  std::vector<float> p2{-0.25F, -0.375F, -0.1875F}, b2{-0.0625F, 0.0F, 0.0F};
  std::vector<float> p3{-0.03125F};
  std::vector<NgramArrays> arrays;
  std::vector<NgramSlots> slots;

  ToyModel() {
    const std::vector<NgramColumns> orders{{unigrams, p1, b1}, {bigrams, p2, b2}, {trigrams, p3, {}}};
    arrays = build_ngram_tables(orders, unigrams.size(), 1, {});
    for (const auto& one : arrays) slots.push_back(one.view());
  }
};

bool close(float logprob, double log10_prob) { return std::abs(logprob - log10_prob * 2.302585093) < 1e-5; }

}  // namespace

TEST("a word has the probability of its longest n-gram, with the back-off weights of longer contexts") {
  const ToyModel toy;
  const NgramModel model(toy.slots);
  CHECK(model.order() == 3);
  LmState start = model.begin_state(), a, b, end, other;
  CHECK(close(model.score(start, 3, a), -0.25));
  CHECK(close(model.score(a, 4, b), -0.03125));
  CHECK(close(model.score(b, 2, end), -0.1875));
  // "a a": no bigram; back off from "<s> a" and from "a".
  CHECK(close(model.score(a, 3, other), -0.0625 - 0.125 - 0.5));
  // After an unknown word there is no context.
  CHECK(close(model.score(model.null_state(), 0, other), -2.0));
  CHECK(other == model.null_state());
}

TEST("states are equal if no n-gram distinguishes their words") {
  const ToyModel toy;
  const NgramModel model(toy.slots);
  LmState after_a, after_unknown_a, unknown;
  model.score(model.null_state(), 3, after_a);
  model.score(model.null_state(), 0, unknown);
  model.score(unknown, 3, after_unknown_a);
  CHECK(after_a == after_unknown_a);
  CHECK(!(after_a == model.null_state()));
}

TEST("a model needs its three words") {
  const std::vector<WordId> words{0, 1};
  const std::vector<float> probabilities{-1.0F, -1.0F};
  const std::vector<NgramColumns> orders{{words, probabilities, {}}};
  const auto arrays = build_ngram_tables(orders, 2, 1, {});
  const std::vector<NgramSlots> slots{arrays[0].view()};
  CHECK_THROWS(NgramModel(slots), "needs the words <unk>, <s> and </s>");
}
