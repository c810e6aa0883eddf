#include "network/sentence_encoder.hh"

#include <algorithm>

#include "base/errors.hh"
#include "base/half.hh"
#include "base/slices.hh"

namespace hyperbaton {

namespace {

// Rows of the embeddings for the start and the end of a sentence.
constexpr std::int32_t kStart = 1, kEnd = 2, kSpecial = 3;
// Sentences that are encoded together.
constexpr std::size_t kTogether = 12;

void put(const HalfMatrix& matrix, Panels& panels, std::size_t first, float scale = 1) {
  for (std::size_t o = 0; o < matrix.n_rows; ++o)
    for (std::size_t i = 0; i < matrix.n_columns; ++i)
      panels.at(first + o, i) = scale * from_half(matrix.values[o * matrix.n_columns + i]);
}

// A row of an embedding.
void embed(const HalfMatrix& embedding, std::int32_t row, float* out) {
  if (row < 0 || to_size(row) >= embedding.n_rows) throw Error("a word or label is not in the embedding");
  const auto* values = embedding.values.data() + to_size(row) * embedding.n_columns;
  for (std::size_t i = 0; i < embedding.n_columns; ++i) out[i] = from_half(values[i]);
}

// Rows without the padding of the last panel.
void trim(const std::vector<float>& rows, std::size_t width, std::size_t n_columns, std::vector<float>& out) {
  const std::size_t n_rows = rows.size() / width;
  out.resize(n_rows * n_columns);
  for (std::size_t r = 0; r < n_rows; ++r) std::copy_n(rows.begin() + r * width, n_columns, out.begin() + r * n_columns);
}

}  // namespace

const HalfMatrix& find_matrix(const HalfMatrices& arrays, const std::string& name) {
  const auto place = arrays.find(name);
  if (place == arrays.end()) throw Error("the network has no array " + name);
  return place->second;
}

const HalfMatrix& find_matrix(const HalfMatrices& arrays, const std::string& name, std::size_t n_rows,
                              std::size_t n_columns) {
  const auto& matrix = find_matrix(arrays, name);
  if (matrix.n_rows != n_rows || matrix.n_columns != n_columns)
    throw Error("the arrays of the network do not match: " + name);
  return matrix;
}

void add_row(const HalfMatrix& table, std::int64_t row, float scale, float* sum) {
  if (row < 0 || to_size(row) >= table.n_rows) throw Error("a word is not in the embedding");
  const auto* values = table.values.data() + to_size(row) * table.n_columns;
  for (std::size_t i = 0; i < table.n_columns; ++i) sum[i] += scale * from_half(values[i]);
}

void LinearLayer::put_weights(const HalfMatrix& matrix, std::size_t first, float scale) {
  put(matrix, weights_, first, scale);
}

void LinearLayer::put_bias(const HalfMatrix& matrix, std::size_t first, float scale) {
  for (std::size_t i = 0; i < matrix.n_columns; ++i) bias_[first + i] = scale * from_half(matrix.values[i]);
}

void LinearLayer::apply(const std::vector<float>& inputs, std::vector<float>& outputs, std::size_t n_rows) const {
  outputs.resize(n_rows * width());
  for (std::size_t r = 0; r < n_rows; ++r) std::copy(bias_.begin(), bias_.end(), outputs.begin() + r * width());
  add_products(weights_, {inputs.data(), weights_.n_inputs()}, {outputs.data(), width()}, n_rows);
}

// Buffers of one thread.
struct SentenceEncoder::Work {
  std::vector<std::size_t> lengths;  // of sentences, in tokens
  std::vector<float> x, gates, step_gates, cells, states;
};

SentenceEncoder::SentenceEncoder(const HalfMatrices& arrays) {
  const auto shape_of = [&](const std::string& name) {
    const auto place = arrays.find(name);
    return place == arrays.end() ? HalfMatrix{.values = {}, .n_rows = 0, .n_columns = 0} : place->second;
  };
  word_ = shape_of("word");
  label_ = shape_of("label");
  hidden_ = shape_of("lstm.0.forward.states").n_columns;
  if (word_.n_rows < kSpecial || word_.n_columns == 0 || hidden_ == 0 || (label_.n_columns > 0 && label_.n_rows < kSpecial))
    throw Error("the arrays of the network do not match");
  const std::size_t state = state_size(), n_inputs = word_.n_columns + label_.n_columns, n_gates = 4 * hidden_;
  input_ = LinearLayer(state, n_inputs);
  input_.put_weights(find_matrix(arrays, "input.weight", state, n_inputs), 0);
  input_.put_bias(find_matrix(arrays, "input.bias", 1, state), 0);
  for (std::size_t l = 0; l < 2; ++l) {
    layers_[l].inputs = LinearLayer(2 * n_gates, state);
    for (std::size_t d = 0; d < 2; ++d) {
      const std::string name = "lstm." + std::to_string(l) + (d == 0 ? ".forward." : ".backward.");
      layers_[l].inputs.put_weights(find_matrix(arrays, name + "inputs", n_gates, state), d * n_gates);
      layers_[l].inputs.put_bias(find_matrix(arrays, name + "bias", 1, n_gates), d * n_gates);
      layers_[l].states[d].resize(n_gates, hidden_);
      put(find_matrix(arrays, name + "states", n_gates, hidden_), layers_[l].states[d], 0);
    }
  }
}

void SentenceEncoder::for_each(const EncoderText& text, unsigned n_threads, const Progress& progress,
                               const std::function<void(const Encoded&)>& use) const {
  const std::size_t n_sentences = text.offsets.size() - 1;
  // Sentences of similar length are batched; the batching does not change results.
  const auto order = longest_first(text.offsets);
  parallel_chunks(n_sentences, kTogether, n_threads, progress, [&](std::size_t begin, std::size_t end) {
    Work work;
    Encoded encoded;
    encoded.sentences.assign(order.begin() + static_cast<std::ptrdiff_t>(begin),
                             order.begin() + static_cast<std::ptrdiff_t>(end));
    encode(text, work, encoded);
    use(encoded);
  });
}

// The states of the top layer.
void SentenceEncoder::encode(const EncoderText& text, Work& work, Encoded& encoded) const {
  for (const std::size_t s : encoded.sentences) {
    encoded.starts.push_back(encoded.n_tokens);
    work.lengths.push_back(to_size(text.offsets[s + 1] - text.offsets[s]) + 2);
    encoded.n_tokens += work.lengths.back();
  }
  const std::size_t width = word_.n_columns + label_.n_columns;
  work.x.resize(encoded.n_tokens * width);
  float* row = work.x.data();
  const auto add = [&](std::int32_t word, std::int32_t label) {
    embed(word_, word, row);
    if (label_.n_columns > 0) embed(label_, label, row + word_.n_columns);
    row += width;
  };
  for (const std::size_t s : encoded.sentences) {
    const auto words = slice(text.words, text.offsets, s);
    const auto labels = label_.n_columns > 0 ? slice(text.labels, text.offsets, s) : std::span<const std::int32_t>{};
    add(kStart, kStart);
    for (std::size_t i = 0; i < words.size(); ++i) add(words[i], labels.empty() ? 0 : labels[i]);
    add(kEnd, kEnd);
  }
  input_.apply(work.x, work.gates, encoded.n_tokens);
  trim(work.gates, input_.width(), state_size(), encoded.states);
  for (const Layer& layer : layers_) lstm(layer, work, encoded);
}

// One layer: maps the states of the tokens to new states.
void SentenceEncoder::lstm(const Layer& layer, Work& work, Encoded& encoded) const {
  const std::size_t n_gates = 4 * hidden_, n_sentences = work.lengths.size();
  layer.inputs.apply(encoded.states, work.gates, encoded.n_tokens);
  const std::size_t width = layer.inputs.width(), step_width = layer.states[0].width();
  work.step_gates.resize(n_sentences * step_width);
  for (std::size_t d = 0; d < 2; ++d) {
    work.cells.assign(n_sentences * hidden_, 0);
    work.states.assign(n_sentences * hidden_, 0);
    for (std::size_t t = 0; t < work.lengths[0]; ++t) {
      const auto row = [&](std::size_t b) { return encoded.starts[b] + (d == 0 ? t : work.lengths[b] - 1 - t); };
      std::size_t n = 0;  // number of sentences with a token at this step
      for (; n < n_sentences && work.lengths[n] > t; ++n)
        std::copy_n(work.gates.data() + row(n) * width + d * n_gates, n_gates, work.step_gates.data() + n * step_width);
      add_products(layer.states[d], {work.states.data(), hidden_}, {work.step_gates.data(), step_width}, n);
      lstm_step({work.step_gates.data(), step_width}, {work.cells.data(), hidden_}, {work.states.data(), hidden_}, hidden_,
                n);
      for (std::size_t b = 0; b < n; ++b)
        std::copy_n(work.states.data() + b * hidden_, hidden_, encoded.states.data() + row(b) * state_size() + d * hidden_);
    }
  }
}

}  // namespace hyperbaton
