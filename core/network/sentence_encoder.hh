// The shared part of networks that encode whole sentences: it maps words to a state for each token.
//
//     x = input(word ⊕ label)          h = two bidirectional LSTM layers over start, words, end
//
// Single precision; every sum has a fixed order, independent of processor, number of threads and batching.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/matrix.hh"
#include "base/parallel.hh"

namespace hyperbaton {

// A stored half-precision matrix, row by row.
struct HalfMatrix {
  std::span<const std::uint16_t> values;
  std::size_t n_rows, n_columns;
};
using HalfMatrices = std::map<std::string, HalfMatrix>;

// The matrix with this name; throws if there is none.
const HalfMatrix& find_matrix(const HalfMatrices& arrays, const std::string& name);
// The matrix with this name and shape; throws if there is none.
const HalfMatrix& find_matrix(const HalfMatrices& arrays, const std::string& name, std::size_t n_rows,
                              std::size_t n_columns);

// Add a row, times `scale`, to a sum of n_columns values.
void add_row(const HalfMatrix& table, std::int64_t row, float scale, float* sum);

// Sentences as rows of the embeddings, without their start and end. Labels are empty if the network has none.
struct EncoderText {
  std::span<const std::int32_t> words, labels;
  std::span<const std::int64_t> offsets;
};

// outputs = bias + weights · inputs.
class LinearLayer {
 public:
  LinearLayer() = default;
  LinearLayer(std::size_t n_outputs, std::size_t n_inputs) : weights_(n_outputs, n_inputs), bias_(weights_.width(), 0) {}
  // Copy weights (outputs × inputs), or a bias, to the outputs from `first` on.
  void put_weights(const HalfMatrix& matrix, std::size_t first, float scale = 1);
  void put_bias(const HalfMatrix& matrix, std::size_t first, float scale = 1);
  // Contiguous rows; output rows have width() values.
  void apply(const std::vector<float>& inputs, std::vector<float>& outputs, std::size_t n_rows) const;
  std::size_t width() const { return weights_.width(); }

 private:
  Panels weights_;
  std::vector<float> bias_;
};

class SentenceEncoder {
 public:
  // Arrays by name, as stored by models/networks/encoder.py; throws if they do not match. The embeddings are borrowed.
  explicit SentenceEncoder(const HalfMatrices& arrays);

  std::size_t hidden() const { return hidden_; }          // of one direction
  std::size_t state_size() const { return 2 * hidden_; }  // of a token

  // Sentences that are encoded together, the longest first; the tokens of sentence b are the rows from starts[b] on: its
  // start, its words, its end.
  struct Encoded {
    std::vector<std::size_t> sentences, starts;
    std::vector<float> states;
    std::size_t n_tokens = 0;
  };
  // Encode all sentences in threads, and call `use` for each batch.
  void for_each(const EncoderText& text, unsigned n_threads, const Progress& progress,
                const std::function<void(const Encoded&)>& use) const;

 private:
  struct Layer {
    LinearLayer inputs;            // gates of both directions, forward ones first
    std::array<Panels, 2> states;  // for each direction
  };
  struct Work;

  void encode(const EncoderText& text, Work& work, Encoded& encoded) const;
  void lstm(const Layer& layer, Work& work, Encoded& encoded) const;

  HalfMatrix word_, label_;
  std::size_t hidden_;
  LinearLayer input_;
  std::array<Layer, 2> layers_;
};

}  // namespace hyperbaton
