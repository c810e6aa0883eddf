#include "next_position/encoder.hh"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "base/half.hh"
#include "base/math.hh"
#include "base/slices.hh"
#include "next_position/jump_logprobs.hh"

namespace hyperbaton {

namespace {

// Rows of the embeddings that stand for the start and the end of a sentence.
constexpr std::int32_t kStart = 1, kEnd = 2, kSpecial = 3;
// Sentences that go through the network together.
constexpr std::size_t kTogether = 12;

// The smallest distances of the buckets of one direction; backward buckets come first, from far to near.
constexpr std::array<std::size_t, 11> kDistances{1, 2, 3, 4, 5, 6, 7, 9, 13, 21, 41};
constexpr std::size_t kBuckets = 2 * kDistances.size();

std::size_t bucket(std::size_t distance, bool forward) {
  const auto above = std::upper_bound(kDistances.begin(), kDistances.end(), distance);
  const auto place = static_cast<std::size_t>(std::max<std::ptrdiff_t>(above - kDistances.begin(), 1) - 1);
  return forward ? kDistances.size() + place : kDistances.size() - 1 - place;
}

const HalfMatrix& find(const std::map<std::string, HalfMatrix>& arrays, const std::string& name, std::size_t n_rows,
                       std::size_t n_columns) {
  const auto place = arrays.find(name);
  if (place == arrays.end()) throw Error("the network has no array " + name);
  if (place->second.n_rows != n_rows || place->second.n_columns != n_columns)
    throw Error("the arrays of the network do not fit each other: " + name);
  return place->second;
}

// Copy a matrix (outputs × inputs) to the outputs from `first` on.
void put(const HalfMatrix& matrix, Panels& panels, std::size_t first, float scale = 1) {
  for (std::size_t o = 0; o < matrix.n_rows; ++o)
    for (std::size_t i = 0; i < matrix.n_columns; ++i)
      panels.at(first + o, i) = scale * from_half(matrix.values[o * matrix.n_columns + i]);
}

void put(const HalfMatrix& bias, std::vector<float>& values, std::size_t first, float scale = 1) {
  for (std::size_t i = 0; i < bias.n_columns; ++i) values[first + i] = scale * from_half(bias.values[i]);
}

// A row of an embedding.
void embed(const HalfMatrix& embedding, std::int32_t row, float* out) {
  if (row < 0 || static_cast<std::size_t>(row) >= embedding.n_rows) throw Error("a word or label is not in the embedding");
  const auto* values = embedding.values.data() + static_cast<std::size_t>(row) * embedding.n_columns;
  for (std::size_t i = 0; i < embedding.n_columns; ++i) out[i] = from_half(values[i]);
}

}  // namespace

// Buffers of one thread.
struct Encoder::Work {
  std::vector<std::size_t> lengths, starts;  // of sentences, in tokens: longest first; their first rows
  std::vector<float> x, h, gates, step_gates, cells, states, queries, keys;
  Panels sentence_keys;
  std::vector<float> scores;
};

Encoder::Encoder(const std::map<std::string, HalfMatrix>& arrays) {
  const auto shape_of = [&](const std::string& name) {
    const auto place = arrays.find(name);
    return place == arrays.end() ? HalfMatrix{{}, 0, 0} : place->second;
  };
  word_ = shape_of("word");
  label_ = shape_of("label");
  hidden_ = shape_of("lstm.0.forward.states").n_columns;
  if (word_.n_rows < kSpecial || word_.n_columns == 0 || hidden_ == 0 || (label_.n_columns > 0 && label_.n_rows < kSpecial))
    throw Error("the arrays of the network do not fit each other");
  const std::size_t state = 2 * hidden_, n_inputs = word_.n_columns + label_.n_columns, n_gates = 4 * hidden_;

  const auto linear = [](std::size_t n_outputs, std::size_t inputs) {
    Linear made{Panels(n_outputs, inputs), {}};
    made.bias.assign(made.weights.width(), 0);
    return made;
  };
  input_ = linear(state, n_inputs);
  put(find(arrays, "input.weight", state, n_inputs), input_.weights, 0);
  put(find(arrays, "input.bias", 1, state), input_.bias, 0);
  for (std::size_t l = 0; l < 2; ++l) {
    layers_[l].inputs = linear(2 * n_gates, state);
    for (std::size_t d = 0; d < 2; ++d) {
      const std::string name = "lstm." + std::to_string(l) + (d == 0 ? ".forward." : ".backward.");
      put(find(arrays, name + "inputs", n_gates, state), layers_[l].inputs.weights, d * n_gates);
      put(find(arrays, name + "bias", 1, n_gates), layers_[l].inputs.bias, d * n_gates);
      layers_[l].states[d].resize(n_gates, hidden_);
      put(find(arrays, name + "states", n_gates, hidden_), layers_[l].states[d], 0);
    }
  }
  distances_ = arrays.contains("from_distance.weight");
  const std::size_t n_buckets = distances_ ? kBuckets : 0;
  const auto scale = static_cast<float>(1 / std::sqrt(static_cast<double>(hidden_)));
  query_ = linear(hidden_ + n_buckets, state);
  put(find(arrays, "query.weight", hidden_, state), query_.weights, 0, scale);
  put(find(arrays, "query.bias", 1, hidden_), query_.bias, 0, scale);
  key_ = linear(hidden_ + 1 + n_buckets, state);
  put(find(arrays, "key.weight", hidden_, state), key_.weights, 0);
  put(find(arrays, "key.bias", 1, hidden_), key_.bias, 0);
  put(find(arrays, "bias", 1, state), key_.weights, hidden_);
  if (distances_) {
    put(find(arrays, "from_distance.weight", kBuckets, state), query_.weights, hidden_);
    put(find(arrays, "from_distance.bias", 1, kBuckets), query_.bias, hidden_);
    put(find(arrays, "to_distance.weight", kBuckets, state), key_.weights, hidden_ + 1);
  }
}

namespace {

// outputs = bias + weights · inputs, rows one behind the other.
void apply(const Panels& weights, const std::vector<float>& bias, const std::vector<float>& inputs,
           std::vector<float>& outputs, std::size_t n_rows) {
  const std::size_t width = weights.width();
  outputs.resize(n_rows * width);
  for (std::size_t r = 0; r < n_rows; ++r) std::copy(bias.begin(), bias.end(), outputs.begin() + r * width);
  add_products(weights, {inputs.data(), weights.n_inputs()}, {outputs.data(), width}, n_rows);
}

// Rows without what fills the last panel.
void trim(const std::vector<float>& rows, std::size_t width, std::size_t n_columns, std::vector<float>& out) {
  const std::size_t n_rows = rows.size() / width;
  out.resize(n_rows * n_columns);
  for (std::size_t r = 0; r < n_rows; ++r) std::copy_n(rows.begin() + r * width, n_columns, out.begin() + r * n_columns);
}

}  // namespace

// The states of the top layer, a row of work.h for each token.
void Encoder::encode(const EncoderText& text, std::span<const std::size_t> sentences, Work& work) const {
  work.lengths.clear();
  work.starts.clear();
  std::size_t n_tokens = 0;
  for (const std::size_t s : sentences) {
    work.starts.push_back(n_tokens);
    work.lengths.push_back(static_cast<std::size_t>(text.offsets[s + 1] - text.offsets[s]) + 2);
    n_tokens += work.lengths.back();
  }
  const std::size_t width = word_.n_columns + label_.n_columns;
  work.x.resize(n_tokens * width);
  float* row = work.x.data();
  const auto add = [&](std::int32_t word, std::int32_t label) {
    embed(word_, word, row);
    if (label_.n_columns > 0) embed(label_, label, row + word_.n_columns);
    row += width;
  };
  for (const std::size_t s : sentences) {
    const auto words = slice(text.words, text.offsets, s);
    const auto labels = label_.n_columns > 0 ? slice(text.labels, text.offsets, s) : std::span<const std::int32_t>{};
    add(kStart, kStart);
    for (std::size_t i = 0; i < words.size(); ++i) add(words[i], labels.empty() ? 0 : labels[i]);
    add(kEnd, kEnd);
  }
  apply(input_.weights, input_.bias, work.x, work.gates, n_tokens);
  trim(work.gates, input_.weights.width(), 2 * hidden_, work.h);
  for (const Layer& layer : layers_) lstm(layer, work);
}

// One layer, from and to work.h.
void Encoder::lstm(const Layer& layer, Work& work) const {
  const std::size_t n_gates = 4 * hidden_, n_tokens = work.h.size() / (2 * hidden_), n_sentences = work.lengths.size();
  apply(layer.inputs.weights, layer.inputs.bias, work.h, work.gates, n_tokens);
  const std::size_t width = layer.inputs.weights.width(), step_width = layer.states[0].width();
  work.step_gates.resize(n_sentences * step_width);
  for (std::size_t d = 0; d < 2; ++d) {
    work.cells.assign(n_sentences * hidden_, 0);
    work.states.assign(n_sentences * hidden_, 0);
    for (std::size_t t = 0; t < work.lengths[0]; ++t) {
      const auto row = [&](std::size_t b) { return work.starts[b] + (d == 0 ? t : work.lengths[b] - 1 - t); };
      std::size_t n = 0;  // sentences that have a token there
      for (; n < n_sentences && work.lengths[n] > t; ++n)
        std::copy_n(work.gates.data() + row(n) * width + d * n_gates, n_gates, work.step_gates.data() + n * step_width);
      add_products(layer.states[d], {work.states.data(), hidden_}, {work.step_gates.data(), step_width}, n);
      lstm_step({work.step_gates.data(), step_width}, {work.cells.data(), hidden_}, {work.states.data(), hidden_}, hidden_,
                n);
      for (std::size_t b = 0; b < n; ++b)
        std::copy_n(work.states.data() + b * hidden_, hidden_, work.h.data() + row(b) * 2 * hidden_ + d * hidden_);
    }
  }
}

// The matrix of a sentence whose tokens start at row `first` of the queries and keys.
void Encoder::write_logprobs(std::size_t first, std::size_t n_words, Work& work, double* out) const {
  const std::size_t side = n_words + 1;
  work.sentence_keys.resize(side, hidden_);
  const std::size_t width = work.sentence_keys.width();
  const float* queries = work.queries.data() + first * query_.weights.width();
  const float* keys = work.keys.data() + (first + 1) * key_.weights.width();
  work.scores.assign(side * width, 0);
  for (std::size_t j = 0; j < side; ++j) {
    const float* key = keys + j * key_.weights.width();
    for (std::size_t k = 0; k < hidden_; ++k) work.sentence_keys.at(j, k) = key[k];
    for (std::size_t i = 0; i < side; ++i) {
      float& score = work.scores[i * width + j];
      score = key[hidden_];
      if (!distances_) continue;
      // Column j is the token j + 1.
      const std::size_t of = j + 1 > i ? bucket(j + 1 - i, true) : bucket(i - j - 1, false);
      score += queries[i * query_.weights.width() + hidden_ + of] + key[hidden_ + 1 + of];
    }
  }
  add_products(work.sentence_keys, {queries, query_.weights.width()}, {work.scores.data(), width}, side);
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
  if (logprobs.size() != static_cast<std::size_t>(starts.back())) throw Error("the output does not fit the text");
  const std::size_t n_sentences = text.offsets.size() - 1;
  // Sentences of similar length go together; which ones do changes nothing.
  std::vector<std::size_t> order(n_sentences);
  std::iota(order.begin(), order.end(), 0);
  const auto length = [&](std::size_t s) { return text.offsets[s + 1] - text.offsets[s]; };
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return length(a) > length(b); });
  parallel_chunks(n_sentences, kTogether, n_threads, progress, [&](std::size_t begin, std::size_t end) {
    Work work;
    const auto sentences = std::span<const std::size_t>(order).subspan(begin, end - begin);
    encode(text, sentences, work);
    const std::size_t n_tokens = work.h.size() / (2 * hidden_);
    apply(query_.weights, query_.bias, work.h, work.queries, n_tokens);
    apply(key_.weights, key_.bias, work.h, work.keys, n_tokens);
    for (std::size_t b = 0; b < sentences.size(); ++b)
      write_logprobs(work.starts[b], work.lengths[b] - 2, work, logprobs.data() + starts[sentences[b]]);
  });
}

}  // namespace hyperbaton
