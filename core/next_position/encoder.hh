// The forward pass of the model `encoder`: log P(NP | CP) of all jumps, from an encoding of the whole sentence.
//
//     score(i, j) = q(hᵢ)·k(hⱼ)/√d + b(hⱼ) + Q(hᵢ)[bucket of j − i] + K(hⱼ)[bucket of j − i]
//
// of the states h of its tokens (network/sentence_encoder.hh).
#pragma once

#include "network/sentence_encoder.hh"

namespace hyperbaton {

class Encoder {
 public:
  // Arrays by name, as stored by models/encoder.py; throws if they do not match. The embeddings are borrowed.
  explicit Encoder(const HalfMatrices& arrays);

  // Fill logprobs in the layout of jump_logprobs.hh.
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
