// The forward pass of the model `encoder`: log P(NP | CP) of all jumps of a sentence from a network that reads it whole.
//
//     x = input(word ⊕ label)          h = two bidirectional LSTM layers over start, words, end
//     score(i, j) = q(hᵢ)·k(hⱼ)/√d + b(hⱼ) + Q(hᵢ)[bucket of j − i] + K(hⱼ)[bucket of j − i]
//
// In single precision; every sum has one order, whatever the processor, the number of threads, and the sentences that are
// asked for together.
#pragma once

#include <array>
#include <map>
#include <span>
#include <string>

#include "base/matrix.hh"
#include "base/parallel.hh"

namespace hyperbaton {

// A stored matrix of half precision, row by row.
struct HalfMatrix {
  std::span<const std::uint16_t> values;
  std::size_t n_rows, n_columns;
};

// Sentences as rows of the embeddings, without their start and end. Labels are empty if the network has none.
struct EncoderText {
  std::span<const std::int32_t> words, labels;
  std::span<const std::int64_t> offsets;
};

class Encoder {
 public:
  // By name, as models/encoder.py stores them; throws if they do not fit each other. The embeddings are borrowed.
  explicit Encoder(const std::map<std::string, HalfMatrix>& arrays);

  // Fill logprobs as jump_logprobs.hh says.
  void jump_logprobs(const EncoderText& text, std::span<double> logprobs, unsigned n_threads,
                     const Progress& progress) const;

 private:
  struct Linear {
    Panels weights;
    std::vector<float> bias;  // weights.width() values
  };
  struct Layer {
    Linear inputs;                 // gates of both directions, forward ones first
    std::array<Panels, 2> states;  // for each direction
  };
  struct Work;

  void encode(const EncoderText& text, std::span<const std::size_t> sentences, Work& work) const;
  void lstm(const Layer& layer, Work& work) const;
  void write_logprobs(std::size_t first, std::size_t n_words, Work& work, double* out) const;

  HalfMatrix word_, label_;
  std::size_t hidden_;  // of one direction
  bool distances_;
  Linear input_, query_, key_;  // the heads include the terms of distance and b
  std::array<Layer, 2> layers_;
};

}  // namespace hyperbaton
