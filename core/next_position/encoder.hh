// The forward pass of the model `encoder`: log P(NP | CP) of all jumps of a sentence from a network that reads it whole.
//
//     score(i, j) = q(hᵢ)·k(hⱼ)/√d + b(hⱼ) + Q(hᵢ)[bucket of j − i] + K(hⱼ)[bucket of j − i]
//
// of the states h of its tokens (network/sentence_encoder.hh).
#pragma once

#include "network/sentence_encoder.hh"

namespace hyperbaton {

class Encoder {
 public:
  // By name, as models/encoder.py stores them; throws if they do not fit each other. The embeddings are borrowed.
  explicit Encoder(const HalfMatrices& arrays);

  // Fill logprobs as jump_logprobs.hh says.
  void jump_logprobs(const EncoderText& text, std::span<double> logprobs, unsigned n_threads,
                     const Progress& progress) const;

 private:
  struct Work;

  void write_logprobs(std::size_t first, std::size_t n_words, Work& work, double* out) const;

  SentenceEncoder encoder_;
  bool distances_;
  LinearLayer query_, key_;  // include the terms of distance and b
};

}  // namespace hyperbaton
