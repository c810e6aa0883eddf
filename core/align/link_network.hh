// A network that corrects the posteriors of the hidden Markov models of both directions.
//
// Bidirectional LSTMs over both sentences give states h, and each word has a vector v of its form and its stem:
//
//     score(i, j) = key(h_i)·key(h_j) / √K  +  v_i·v_j / √V
//
// With the models' posteriors q (this direction's) and r (the other's), the corrected posterior of a word's origin is the
// softmax over the words of the other sentence, and null, of
//
//     s = a·score + b·log q + c·log r + weighted sums of sigmoid(score) and (q + r) / 2 in a window of 3 × 3 word pairs
//
// The score of null is linear in the word's state, plus (b + c)·log q. Posteriors corrected in this way, p to the target
// and p' to the source, are corrected once more by their neighbours: to s are added the outputs of
//
//     outer(tanh(inner(p, p', sigmoid(score), q to the target, q to the source)))
//
// two layers of weighted sums in windows of 3 × 3. Sums have a fixed order, as in SentenceEncoder.
#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "align/correction.hh"
#include "corpus/text.hh"
#include "network/sentence_encoder.hh"

namespace hyperbaton {

class LinkNetwork : public PosteriorCorrection {
 public:
  // Rows of the embeddings by word; those of unknown words are 0.
  struct WordRows {
    std::span<const std::int32_t> words, stems;
  };

  // Those of align/neural/texts.py.
  struct Constants {
    float smallest_posterior;  // posteriors below this in both directions count as 0
    float posterior_floor;     // added to posteriors before taking the logarithm
    float window_scale;        // of the weighted sums of windows that are added to scores
  };

  // Arrays by name, as stored by align/neural/student.py: those of the sides begin with `source.` and `target.`. Throws if
  // they do not match. Embeddings and rows are borrowed.
  LinkNetwork(const HalfMatrices& arrays, const std::array<WordRows, 2>& rows, const Constants& constants);

  Step prepare(const AlignmentModel& model, BitextView bitext, std::size_t begin, std::size_t end) const override;

 private:
  // One side of consecutive sentence pairs.
  struct EncodedSide {
    std::vector<std::int64_t> offsets{0};  // of words
    std::vector<float> vectors;            // keys and word vectors, `width` for each word
    std::vector<float> nulls;              // scores of null
  };
  using Encoded = std::array<EncodedSide, 2>;

  // Sentence pairs begin … end − 1; a pair that does not fit the model is treated as empty.
  Encoded encode(const AlignmentModel& model, BitextView bitext, std::size_t begin, std::size_t end) const;
  // Replace the posteriors of pair number `index` of the encoded ones.
  void correct(const Encoded& encoded, std::size_t index, PairPosteriors& pair) const;

  struct Side {
    Side(const HalfMatrices& arrays, const std::string& name, const WordRows& rows, float scale);
    WordRows rows;
    SentenceEncoder encoder;
    LinearLayer key;  // and the score of null
    HalfMatrix word_vectors, stem_vectors;
    float vector_scale;
  };

  // Values of word pairs, one kind after the other, with zeros around them.
  class Grid {
   public:
    Grid(std::size_t n, std::size_t m, std::size_t n_kinds)
        : n_(n), width_(m + 2), size_((n + 2) * width_ + 2 + Panels::kWidth), values_(n_kinds * size_, 0) {}
    std::size_t n_rows() const { return n_; }
    std::size_t width() const { return width_; }
    // The values of the pairs (i, 0) … (i, m − 1).
    float* row(std::size_t kind, std::size_t i) { return values_.data() + kind * size_ + (i + 1) * width_ + 1; }
    // The neighbours (i − 1, j − 1) of all pairs (i, j), which are at i · width() + j.
    const float* corners(std::size_t kind) const { return values_.data() + kind * size_; }

   private:
    std::size_t n_, width_, size_;
    std::vector<float> values_;
  };

  // Weighted sums of the values of 3 × 3 word pairs.
  struct Window {
    // The sums around all word pairs: those around (i, j) are at i · width + j.
    struct Sums {
      std::size_t width, size;
      std::vector<float> values;
      const float* row(std::size_t output, std::size_t i) const { return values.data() + output * size + i * width; }
    };
    Window(const HalfMatrices& arrays, const std::string& name, std::size_t n_outputs, std::size_t n_inputs);
    Sums operator()(const Grid& grid) const;
    std::size_t n_inputs;
    std::vector<float> weights;  // by output, row, column, and input
    std::vector<float> bias;
  };

  Constants constants_;
  std::size_t n_keys_, n_values_;
  std::array<Side, 2> sides_;
  std::array<std::array<float, 3>, 2> mix_;  // by Direction: a, b, c
  Window window_, inner_, outer_;
};

}  // namespace hyperbaton
