// The forward pass of the model `encoder_orientation`: class scores of phrase pairs, from an encoding of the whole
// sentence.
//
//     v = relu(P₀ h_{b−1} + P₁ h_b + P₂ h_{e−1} + P₃ h_e + F[first target word] + L[last target word] + S[length])
//     score(class) = out · v + bias
//
// for the source words [b, e). P h is computed once for each token: a phrase pair costs seven vector sums and the
// products with the outputs.
#pragma once

#include "network/sentence_encoder.hh"

namespace hyperbaton {

// Phrase pairs by sentence: those of sentence s are offsets[s] to offsets[s + 1]. For each: the first source word, one
// past the last source word, and the first and the last target word as rows of F and L.
struct EncoderPhrases {
  static constexpr std::size_t kColumns = 4;
  std::span<const std::int64_t> offsets;
  std::span<const std::int32_t> columns;
  std::size_t size() const { return columns.size() / kColumns; }
};

class OrientationEncoder {
 public:
  // Arrays by name, as stored by models/encoder_orientation.py; throws if they do not match. The embeddings are borrowed.
  explicit OrientationEncoder(const HalfMatrices& arrays);

  std::size_t n_classes() const { return n_classes_; }
  // Fill in scores, (phrases, classes).
  void scores(const EncoderText& text, const EncoderPhrases& phrases, std::span<float> scores, unsigned n_threads) const;

 private:
  SentenceEncoder encoder_;
  std::size_t size_, n_classes_;
  LinearLayer places_;  // P₀ … P₃, concatenated
  LinearLayer out_;
  HalfMatrix first_, last_, length_;
};

}  // namespace hyperbaton
