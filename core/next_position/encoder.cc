#include "next_position/encoder.hh"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/math.hh"
#include "base/size.hh"
#include "next_position/jump_logprobs.hh"

namespace hyperbaton {

namespace {

// The smallest distances of the buckets of one direction; backward buckets come first, from far to near.
constexpr std::array<std::size_t, 11> kDistances{1, 2, 3, 4, 5, 6, 7, 9, 13, 21, 41};
constexpr std::size_t kBuckets = 2 * kDistances.size();

std::size_t bucket(std::size_t distance, bool forward) {
  const auto above = std::upper_bound(kDistances.begin(), kDistances.end(), distance);
  const auto place = to_size(std::max<std::ptrdiff_t>(above - kDistances.begin(), 1) - 1);
  return forward ? kDistances.size() + place : kDistances.size() - 1 - place;
}

}  // namespace

// Buffers of one thread.
struct Encoder::Work {
  std::vector<float> queries, keys, scores;
  Panels sentence_keys;
};

Encoder::Encoder(const HalfMatrices& arrays) : encoder_(arrays) {
  const std::size_t hidden = encoder_.hidden(), state = encoder_.state_size();
  distances_ = arrays.contains("from_distance.weight");
  const std::size_t n_buckets = distances_ ? kBuckets : 0;
  const auto scale = static_cast<float>(1 / std::sqrt(static_cast<double>(hidden)));
  query_ = LinearLayer(hidden + n_buckets, state);
  query_.put_weights(find_matrix(arrays, "query.weight", hidden, state), 0, scale);
  query_.put_bias(find_matrix(arrays, "query.bias", 1, hidden), 0, scale);
  key_ = LinearLayer(hidden + 1 + n_buckets, state);
  key_.put_weights(find_matrix(arrays, "key.weight", hidden, state), 0);
  key_.put_bias(find_matrix(arrays, "key.bias", 1, hidden), 0);
  key_.put_weights(find_matrix(arrays, "bias", 1, state), hidden);
  if (distances_) {
    query_.put_weights(find_matrix(arrays, "from_distance.weight", kBuckets, state), hidden);
    query_.put_bias(find_matrix(arrays, "from_distance.bias", 1, kBuckets), hidden);
    key_.put_weights(find_matrix(arrays, "to_distance.weight", kBuckets, state), hidden + 1);
  }
}

// The matrix of a sentence whose tokens start at row `first` of the queries and keys.
void Encoder::write_logprobs(std::size_t first, std::size_t n_words, Work& work, double* out) const {
  const std::size_t side = n_words + 1, hidden = encoder_.hidden();
  work.sentence_keys.resize(side, hidden);
  const std::size_t width = work.sentence_keys.width();
  const float* queries = work.queries.data() + first * query_.width();
  const float* keys = work.keys.data() + (first + 1) * key_.width();
  work.scores.assign(side * width, 0);
  for (std::size_t j = 0; j < side; ++j) {
    const float* key = keys + j * key_.width();
    for (std::size_t k = 0; k < hidden; ++k) work.sentence_keys.at(j, k) = key[k];
    for (std::size_t i = 0; i < side; ++i) {
      float& score = work.scores[i * width + j];
      score = key[hidden];
      if (!distances_) continue;
      // Column j is the token j + 1.
      const std::size_t of = j + 1 > i ? bucket(j + 1 - i, true) : bucket(i - j - 1, false);
      score += queries[i * query_.width() + hidden + of] + key[hidden + 1 + of];
    }
  }
  add_products(work.sentence_keys, {queries, query_.width()}, {work.scores.data(), width}, side);
  for (std::size_t i = 0; i < side; ++i) {
    const float* scores = work.scores.data() + i * width;
    double* row = out + i * side;
    double best = -std::numeric_limits<double>::infinity(), sum = 0;
    for (std::size_t j = 0; j < side; ++j)
      if (j + 1 != i) best = std::max(best, static_cast<double>(scores[j]));
    for (std::size_t j = 0; j < side; ++j)
      if (j + 1 != i) sum += math::exp(scores[j] - best);
    const double normaliser = best + math::log(sum);
    for (std::size_t j = 0; j < side; ++j)
      row[j] = j + 1 != i ? scores[j] - normaliser : -std::numeric_limits<double>::infinity();
  }
}

void Encoder::jump_logprobs(const EncoderText& text, std::span<double> logprobs, unsigned n_threads,
                            const Progress& progress) const {
  const auto starts = jump_starts(text.offsets);
  if (logprobs.size() != to_size(starts.back())) throw Error("the output does not match the text");
  encoder_.for_each(text, n_threads, progress, [&](const SentenceEncoder::Encoded& encoded) {
    Work work;
    query_.apply(encoded.states, work.queries, encoded.n_tokens);
    key_.apply(encoded.states, work.keys, encoded.n_tokens);
    for (std::size_t b = 0; b < encoded.sentences.size(); ++b) {
      const std::size_t s = encoded.sentences[b];
      const auto n_words = to_size(text.offsets[s + 1] - text.offsets[s]);
      write_logprobs(encoded.starts[b], n_words, work, logprobs.data() + starts[s]);
    }
  });
}

}  // namespace hyperbaton
